import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { aTaskServer } from '../../test/task-server.ts'
import { keepArtifacts, storeFile } from '../storage/index.ts'

test('secrets are set from standard input or a file, listed and removed', async () => {
  await using server = await aTaskServer()
  const { path } = await scratch()
  await writeFile(join(path, 'key.pem'), 'one\ntwo\n')
  const run = server.commandLine
  const set = await run(['secret', 'set', 'TOKEN'], { stdin: 'the value\n' })
  expect(set).toMatchObject({ exitCode: 0, stdout: 'TOKEN is set for all archives, version 1\n' })
  const own = await run(['secret', 'set', 'KEY', '--archive', 'My-Project', '--file', join(path, 'key.pem')])
  expect(own.stdout).toBe('KEY is set for My-Project, version 1\n')
  const listed = await run(['secret', 'ls', '--plain'])
  expect(listed.stdout.split('\n').map((line) => line.split('\t').slice(0, 3))).toEqual([
    ['KEY', 'My-Project', '1'],
    ['TOKEN', '', '1'],
    [''],
  ])
  expect((await run(['secret', 'ls', '--archive', 'Other', '-q'])).stdout).toBe('TOKEN\n')
  for (const { stdout, stderr } of [set, own, listed]) expect(stdout + stderr).not.toMatch(/the value|two/)
  expect((await run(['secret', 'set', 'EMPTY'], { stdin: '\n' })).exitCode).toBe(2)
  expect((await run(['secret', 'rm', 'TOKEN', '--yes'])).stdout).toBe('removed TOKEN\n')
  expect((await run(['secret', 'rm', 'TOKEN', '--yes'])).exitCode).toBe(3)
})

test('artifacts are listed, and fetched whole into a folder without replacing what is there', async () => {
  await using server = await aTaskServer()
  const { path } = await scratch()
  const { pool } = server.database
  const id = await server.add({ scope: 'archive:My-Project', key: '12:build' })
  await server.perform()
  const of = { task: id, attempt: 1 }
  const signal = new AbortController().signal
  await writeFile(join(path, 'x'), 'content\n')
  await writeFile(join(path, 'tool'), '#!/bin/sh\n', { mode: 0o755 })
  await keepArtifacts(pool, of, [
    await storeFile({ ...of, pool, signal, number: 0, path: 'out/deep/x', file: join(path, 'x') }),
    await storeFile({ ...of, pool, signal, number: 1, path: 'tool', file: join(path, 'tool') }),
  ])
  const run = server.commandLine
  const workingDirectory = join(path, 'work')
  await mkdir(workingDirectory)
  expect((await run(['artifacts', 'My-Project@12:build', '-q'])).stdout).toBe('out/deep/x\ntool\n')
  const fetched = await run(['artifacts', id, '--get', '--to', 'got'], { workingDirectory })
  expect(fetched).toMatchObject({ exitCode: 0, stderr: 'fetched 2 files into got\n' })
  expect(await readFile(join(workingDirectory, 'got/out/deep/x'), 'utf8')).toBe('content\n')
  expect((await stat(join(workingDirectory, 'got/tool'))).mode & 0o100).toBe(0o100)
  const again = await run(['artifacts', id, 'tool', '--get', '--to', 'got'], { workingDirectory })
  expect(again.exitCode).toBe(2)
  expect(again.stderr).toContain('is there already')
  expect((await run(['artifacts', id, 'tool', '--get', '--to', 'got', '--force'], { workingDirectory })).exitCode).toBe(
    0,
  )
  expect((await run(['artifacts', id, 'none'])).exitCode).toBe(2)
})

test('a fetched artifact that is not what it should be is not left behind', async () => {
  await using server = await aTaskServer()
  const { path } = await scratch()
  const { pool } = server.database
  const id = await server.add()
  await server.perform()
  await writeFile(join(path, 'x'), 'content\n')
  const of = { task: id, attempt: 1 }
  const stored = await storeFile({
    ...of,
    pool,
    signal: new AbortController().signal,
    number: 0,
    path: 'x',
    file: join(path, 'x'),
  })
  await keepArtifacts(pool, of, [{ ...stored, digest: Buffer.alloc(32) }])
  const asked = { workingDirectory: path }
  const damaged = await server.commandLine(['artifacts', id, '--get', '--to', 'got'], asked)
  expect(damaged.stderr).toContain('x arrived damaged')
  await expect(stat(join(path, 'got/x'))).rejects.toThrow('ENOENT')
  await keepArtifacts(pool, of, [{ ...stored, path: '../../x' }])
  const astray = await server.commandLine(['artifacts', id, '--get', '--to', 'got'], asked)
  expect(astray.stderr).toContain('leads out of the folder')
})
