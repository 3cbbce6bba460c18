import { expect, test } from 'vitest'
import { createContainerRunner } from '../../src/runners/container.ts'
import { runnerSuite } from '../../src/runners/runner.suite.ts'
import { IMAGE, useContainers } from '../containers.ts'

useContainers()
const base = { container: { image: IMAGE } }
const bench = runnerSuite({
  create: () => createContainerRunner({ engine: 'podman' }),
  base,
  isExact: false,
  isHost: false,
})

test('it says by which engine it runs', async () => {
  expect(await bench.runner.describe()).toMatchObject({ runner: 'container', isUsable: true, hasExactOrder: false })
})
