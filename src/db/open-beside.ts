import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CLUSTER } from './embedded-cluster.ts'
import { DataDirectoryInUse } from './embedded-errors.ts'
import { type Database, type DatabaseOptions, openDatabase } from './open.ts'

/**
 * The database that is named, or the embedded one: of a server that runs, beside it, through its socket; otherwise it is
 * started for as long as this is open.
 */
export async function openBeside(options: DatabaseOptions): Promise<Database> {
  try {
    return await openDatabase(options)
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error
    const databaseUrl = runningUrl(options.dataDir)
    return openDatabase({ ...options, databaseUrl, shownAs: `the embedded database of process ${error.pid}` })
  }
}

/** How the embedded database of a server that runs is reached. PostgreSQL itself writes down where its socket is. */
export function runningUrl(dataDir: string): string {
  const cluster = join(resolve(dataDir), CLUSTER)
  return `postgresql://millrace@localhost/millrace?host=${encodeURIComponent(socketDirOf(cluster))}`
}

const SOCKET_LINE = 4 // of postmaster.pid: process id, data directory, start time, port, socket directory

function socketDirOf(cluster: string): string {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[SOCKET_LINE]?.trim() || cluster
  } catch {
    return cluster
  }
}
