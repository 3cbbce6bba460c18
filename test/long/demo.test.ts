import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../program.ts'
import { scratch } from '../scratch.ts'

test('the demonstration tells its story, and one that was killed in the middle goes on', async () => {
  await using folder = await scratch()
  const args = ['demo', '--once']
  // As npx calls it.
  const env = { npm_command: 'exec', MILLRACE_PORT: '0', MILLRACE_DATA: folder.path }
  const start = () => runProgram('src/bin.ts', { args, env })
  const first = start()
  // The next revision supersedes this PDF within seconds: a kill while it runs may be too late.
  await first.line(/@2:(words|build-PDF) runs/)
  first.child.kill('SIGKILL')
  await first.exitCode
  expect(first.stdout()).toMatch(/from another terminal: npx millrace loom/)
  expect(first.stdout()).toMatch(/revision 3 is announced before 2/)

  const second = start()
  expect(await second.exitCode, second.stderr()).toBe(0)
  const told = second.stdout()
  expect(told).toMatch(/The story had come to revision 3/)
  // What ran when everything died is run again, and superseded all the same.
  expect(told).toMatch(/@2:build-PDF was stopped: a newer one takes its place/)
  expect(told).toMatch(/@3:build-PDF is done/)
  expect(told).toMatch(/@4:indexing is done/)
  // Releases are numbered: there may have been one by the schedule, which every ten minutes has.
  expect(told).toMatch(/@4:print failed[\s\S]*asked for again[\s\S]*@4:ship is done[\s\S]*@4:release#\d+ is done/)
  expect(told).toMatch(/That was the story/)
  expect(existsSync(join(folder.path, 'the-printer-is-on'))).toBe(true)

  // The third time there is nothing left to tell, and nothing is done twice.
  const third = start()
  expect(await third.exitCode, third.stderr()).toBe(0)
  expect(third.stdout()).not.toMatch(/:(?!release#)\S+ runs$/m)
  expect(await readFile(join(folder.path, 'book', 'db', 'current'), 'utf8')).toMatch(/^4\b/)
})
