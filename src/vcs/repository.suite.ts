// What every repository does, whichever program is behind it and however it is reached.
import { afterAll, beforeAll, describe } from 'vitest'
import type { Ground } from '../../test/repositories/ground.ts'
import { changesTests } from './changes.suite.ts'
import { contentsTests } from './contents.suite.ts'
import { nameTests, readingTests } from './reading.suite.ts'
import { commitTests, workspaceTests } from './workspace.suite.ts'

export function testRepository(title: string, open: () => Promise<Ground>): void {
  describe(title, () => {
    let ground: Ground
    beforeAll(async () => {
      ground = await open()
    })
    afterAll(() => ground[Symbol.asyncDispose]())

    readingTests(() => ground)
    nameTests(() => ground)
    workspaceTests(() => ground)
    commitTests(() => ground)
    changesTests(() => ground)
    contentsTests(() => ground)
  })
}
