import { expect, test } from 'vitest'
import { createPlainRunner } from './plain.ts'
import { createProcessRunner } from './process.ts'
import { runnerSuite } from './runner.suite.ts'

runnerSuite({ create: () => createPlainRunner(), isExact: false, isPlain: true, isHost: true })

test('where there is no Perl commands run plainly, and the runner says so', async () => {
  const runner = createProcessRunner({ perl: 'no-such-perl' })
  expect(await runner.describe()).toMatchObject({
    runner: 'plain',
    isUsable: true,
    hasExactOrder: false,
    notes: expect.arrayContaining([expect.stringContaining('no keeper: perl cannot be started')]),
  })
  const running = await runner.start({ argv: ['true'], env: { PATH: '/bin' }, marker: 'plain.1' }, { sink: () => {} })
  expect(await running.ended).toEqual({ type: 'exited', code: 0 })
  await runner.close()
})
