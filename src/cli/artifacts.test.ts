import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { leaveArtifacts } from '../../test/artifacts.ts'
import { scratch } from '../../test/scratch.ts'
import { useTaskServer } from '../../test/task-server.ts'

const server = useTaskServer()

test('artifacts are listed, and fetched whole into a folder without replacing what is there', async () => {
  const { path } = await scratch()
  const { pool } = server.database
  const id = await server.add({ scope: 'archive:My-Project', key: '12:build' })
  await server.perform()
  await leaveArtifacts(pool, id, {
    'out/deep/x': { content: 'content\n' },
    tool: { content: '#!/bin/sh\n', isExecutable: true },
  })
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
  const { path } = await scratch()
  const { pool } = server.database
  const id = await server.add()
  await server.perform()
  await leaveArtifacts(pool, id, { x: { content: 'content\n', told: { digest: Buffer.alloc(32) } } })
  const asked = { workingDirectory: path }
  const damaged = await server.commandLine(['artifacts', id, '--get', '--to', 'got'], asked)
  expect(damaged.stderr).toContain('x arrived damaged')
  await expect(stat(join(path, 'got/x'))).rejects.toThrow('ENOENT')
  await leaveArtifacts(pool, id, { '../../x': { content: 'content\n' } })
  const astray = await server.commandLine(['artifacts', id, '--get', '--to', 'got'], asked)
  expect(astray.stderr).toContain('leads out of the folder')
})
