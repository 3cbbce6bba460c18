import { expect, test } from 'vitest'
import { runProgram } from '../program.ts'
import { scratch } from '../scratch.ts'
import { layCluster } from './cluster.ts'

// The whole story is told in test/long/demo.test.ts.
test('a demonstration that was killed goes on where its story was', async () => {
  await using folder = await scratch()
  layCluster(folder.path)
  const env = { npm_command: 'exec', MILLRACE_PORT: '0', MILLRACE_DATA: folder.path }
  const start = () => runProgram('src/bin.ts', { args: ['demo', '--once'], env })
  const first = start()
  await first.line(/@1:\S+ runs/)
  first.child.kill('SIGKILL')
  await first.exitCode
  expect(first.stdout()).toMatch(/from another terminal: npx millrace loom/)

  await using second = start()
  await second.line(/The story had come to revision [12]/)
})
