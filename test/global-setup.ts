// One server for the whole run, with one migrated database that each test file clones. Which server:
// the embedded one; Debian's 15 with MILLRACE_TEST_POSTGRES=15; or the one at MILLRACE_TEST_DATABASE_URL,
// a superuser's URL.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../src/db/embedded.ts'
import { CLUSTER } from '../src/db/embedded-cluster.ts'
import { compilePrograms } from './compile-programs.ts'
import { copyCluster, makeClusterTemplate } from './crash/cluster.ts'
import { createTemplate, dropTemplate } from './database.ts'
import { startPostgres15 } from './postgres-15.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string
    template: string
    /** The folder of the compiled programs. */
    compiled: string
    /** What each cluster of a test is a copy of. */
    cluster: { native: string; data: string }
  }
}

type TestServer = { databaseUrl: string; stop(): Promise<void> }

export default async function setup(project: TestProject) {
  const cluster = await makeClusterTemplate()
  const server = await startServer(cluster.data)
  const programs = compilePrograms()
  const template = `millrace_template_${process.pid}`
  await createTemplate(server.databaseUrl, template)
  project.provide('serverUrl', server.databaseUrl)
  project.provide('template', template)
  project.provide('compiled', programs.folder)
  project.provide('cluster', { native: cluster.native, data: cluster.data })
  return async () => {
    await dropTemplate(server.databaseUrl, template)
    await server.stop()
    await cluster.remove()
    programs.remove()
  }
}

async function startServer(cluster: string): Promise<TestServer> {
  const given = process.env['MILLRACE_TEST_DATABASE_URL']
  if (given) return { databaseUrl: given, stop: async () => {} }
  const wanted = process.env['MILLRACE_TEST_POSTGRES'] ?? '18'
  if (wanted === '15') return startPostgres15()
  if (wanted !== '18') throw new Error(`MILLRACE_TEST_POSTGRES is ${wanted}; it may be 15 or 18`)
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-test-'))
  copyCluster(cluster, join(dataDir, CLUSTER))
  const server = await startEmbedded({ dataDir, durable: false, maxConnections: 300 })
  const stop = async () => {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { databaseUrl: server.databaseUrl, stop }
}
