import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { aTaskServer } from '../../test/task-server.ts'

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
