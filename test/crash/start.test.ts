import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isAlive } from '../processes.ts'
import { follow, type Program } from '../program.ts'
import { scratch } from '../scratch.ts'
import { layCluster } from './cluster.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const READY = /^millrace listening on /

/** Runs a command in the checkout, as a person with the given home does. */
function type([program = '', ...args]: string[], env: Record<string, string>): Program {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: path, npm_config_update_notifier: 'false', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // The whole group: npm is not the one that serves.
  return follow(child, () => void process.kill(-(child.pid ?? 0), 'SIGKILL'))
}

/** Runs a script on this Node, which takes itself for another one. */
function onNode(version: string, script: string): Program {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return type([process.execPath, '--import', `data:text/javascript,${encodeURIComponent(pretend)}`, script], {})
}

test('npm start serves, and SIGTERM to npm stops everything with exit code 0', async () => {
  await using folder = await scratch()
  const data = join(folder.path, 'data')
  layCluster(data)
  const settings = { MILLRACE_DATA: data, MILLRACE_PORT: '0', MILLRACE_LOG_LEVEL: 'warn' }
  await using program = type(['npm', 'start'], { HOME: folder.path, ...settings })
  const url = (await program.line(READY)).replace(READY, '')
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  const postmaster = Number.parseInt(readFileSync(join(data, 'postgres-18', 'postmaster.pid'), 'utf8'), 10)
  program.child.kill('SIGTERM')
  expect(await program.exitCode).toBe(0)
  expect(isAlive(postmaster)).toBe(false)
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})

test.each(['14.21.3', '18.20.8', '20.18.3'])('Node %s is told which one to install', async (version) => {
  for (const script of ['scripts/start.mjs', 'scripts/test.mjs', 'scripts/check.mjs']) {
    await using program = onNode(version, script)
    expect(await program.exitCode, script).toBe(1)
    expect(program.stderr()).toBe(`Node ${version} is too old: install Node 20.19 or newer\n`)
    expect(program.stdout()).toBe('')
  }
})

test.each(['20.19.0', '22.0.0', '100.0.0'])('Node %s is new enough', async (version) => {
  await using program = onNode(version, 'scripts/bootstrap.mjs')
  expect(await program.exitCode).toBe(0)
  expect(program.stderr()).not.toContain('too old')
})
