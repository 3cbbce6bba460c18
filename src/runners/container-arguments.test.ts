import { readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkCommand } from './command.ts'
import { type Launch, runArguments, writeEnvironment } from './container-arguments.ts'
import { ContainerEngine } from './container-engine.ts'
import type { CommandSpec, ContainerSpec } from './runner.ts'

function words(engine: string, container: Partial<ContainerSpec> = {}, spec: Partial<CommandSpec> = {}): string {
  const command = checkCommand({
    argv: ['make', 'pdf'],
    marker: 'inst-12.3',
    env: { A: 'secret' },
    ...spec,
  } as CommandSpec)
  const launch: Launch = {
    engine: new ContainerEngine(engine),
    command,
    container: { image: 'image/tag', ...container },
    runnerId: '1.2.3.4',
  }
  return runArguments(launch).join(' ')
}

test('a container carries its task, attempt, marker and runner', () => {
  const said = words('podman')
  for (const label of ['marker=inst-12.3', 'runner=1.2.3.4', 'task=12', 'attempt=3'])
    expect(said).toContain(`--label millrace.${label} `)
  expect(said).toContain('--name millrace-inst-12.3 ')
  expect(said).not.toContain('secret')
})

test('the command replaces what the image would run', () => {
  expect(words('docker')).toMatch(/ --entrypoint make image\/tag pdf$/)
  expect(words('/usr/bin/podman')).toMatch(/ --entrypoint \["make"\] image\/tag pdf$/)
})

test('there is no network unless one is asked for', () => {
  expect(words('docker')).toContain('--network none ')
  expect(words('docker', { network: 'bridge' })).toContain('--network bridge ')
})

test('limits of the container come before those of the command', () => {
  const limits = { memoryBytes: 1000, processes: 10, openFiles: 20 }
  expect(words('docker', {}, { limits })).toContain('--memory 1000 --pids-limit 10 ')
  expect(words('docker', { memoryBytes: 2000, pids: 5, cpus: 1.5 }, { limits })).toMatch(
    /--memory 2000 --cpus 1.5 --pids-limit 5 .*--ulimit nofile=20:20 /,
  )
})

test('a mount whose path could be read as more than a path is refused', () => {
  const mounts = [{ source: '/a,readonly=false', target: '/b' }]
  expect(() => words('docker', { mounts })).toThrow('a mount cannot have')
  expect(words('docker', { mounts: [{ source: '/a b', target: '/b', isReadOnly: true }] })).toContain(
    '--mount type=bind,source=/a b,target=/b,readonly ',
  )
})

test('variables go into a file that only the user may read', async () => {
  const { folder, options, script } = await writeEnvironment({ A: 'x y', LONG: "it's\ntwo" }, '1.2.3.4')
  expect(options.slice(2)).toEqual(['--env', 'LONG'])
  expect(readFileSync(join(folder, 'variables'), 'utf8')).toBe('A=x y\n')
  expect(readFileSync(script ?? '', 'utf8')).toBe(`export LONG='it'\\''s\ntwo'\n`)
  for (const name of ['variables', 'export']) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  await rm(folder, { recursive: true })
  const short = await writeEnvironment({ A: '1' }, '1.2.3.4')
  expect(short.script).toBeUndefined()
  await rm(short.folder, { recursive: true })
  expect(() => words('podman', {}, { env: { 'A-B': 'x\ny' } })).toThrow('env.A-B has several lines')
})
