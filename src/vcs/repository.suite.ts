// What every repository does, whichever program is behind it and however it is reached.
import { afterAll, beforeAll, describe } from 'vitest'
import { inForm } from '../../test/long-form.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { changesTests } from './changes.suite.ts'
import { contentsTests } from './contents.suite.ts'
import { nameTests, readingTests } from './reading.suite.ts'
import { commitTests, workspaceTests } from './workspace.suite.ts'

/** For a repository that differs from one on the disk by its way there alone. */
export function testTransport(title: string, open: () => Promise<Ground>): void {
  inForm(testWay, testRepository)(title, open)
}

function testWay(title: string, open: () => Promise<Ground>): void {
  describe(title, () => {
    const ground = useGround(open)
    nameTests(ground)
    commitTests(ground)
  })
}

export function testRepository(title: string, open: () => Promise<Ground>): void {
  describe(title, () => {
    const ground = useGround(open)
    readingTests(ground)
    nameTests(ground)
    workspaceTests(ground)
    commitTests(ground)
    changesTests(ground)
    contentsTests(ground)
  })
}

function useGround(open: () => Promise<Ground>): () => Ground {
  let ground: Ground
  beforeAll(async () => {
    ground = await open()
  })
  afterAll(() => ground[Symbol.asyncDispose]())
  return () => ground
}
