import { expect, test } from 'vitest'
import { createProcessRunner } from './process.ts'
import { runnerSuite } from './runner.suite.ts'

const bench = runnerSuite({ create: () => createProcessRunner(), isExact: true, isHost: true })

test('the keeper is used here', async () => {
  expect(await bench.runner.describe()).toMatchObject({ runner: 'process', isUsable: true, hasExactOrder: true })
})
