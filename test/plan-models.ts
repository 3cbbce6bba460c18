// Revisions of the model, planned on the database as those of an archive.
import { expect } from 'vitest'
import { planRevisions } from '../src/archives/plan-revision.ts'
import { define } from '../src/archives/workflow-files.ts'
import { type Revision, toFile } from './archive-model.ts'
import type { TestEngine } from './engine.ts'

/** Plans the revision `times` times after the one with the number `after`, together. */
export async function planModel(
  engine: TestEngine,
  place: { readonly id: string; readonly name: string },
  { one, times, after }: { readonly one: Revision; readonly times: number; readonly after: number },
): Promise<void> {
  const wanted = one.tasks.filter(({ isWanted }) => isWanted).map(({ name }) => `+${name}`)
  const message = `${wanted.join(' ')}${one.kind === 'skipped' ? ' [skip millrace]' : ''}`
  const isPlanned = await planRevisions(engine, {
    archive: { ...place, branch: '' },
    after: { number: after, id: String(after) },
    defined: define([{ path: '_workflows/a.json', bytes: Buffer.from(toFile(one)) }]),
    revisions: Array.from({ length: times }, (_, i) => ({
      number: after + 1 + i,
      id: String(after + 1 + i),
      author: 'ada',
      date: null,
      message,
      changes: [],
      isCut: false,
      marker: null,
    })),
  })
  expect(isPlanned).toBe(true)
}
