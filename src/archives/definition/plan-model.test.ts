// Random definitions and histories, planned by `plan` and by a model that knows nothing but the rules of the guide.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Model, NAMES, type Revision, revision, toFile } from '../../../test/archive-model.ts'
import { inForm } from '../../../test/long-form.ts'
import { plan } from './plan.ts'
import { readDefinition } from './read-definition.ts'
import { RememberedHistory } from './remembered-history.ts'

function planned(history: RememberedHistory, one: Revision, rev: number): string[] {
  const definition = readDefinition([{ path: '_workflows/a.json', bytes: Buffer.from(toFile(one)) }])
  expect(definition.problems.filter(({ severity }) => severity === 'error').length > 0).toBe(one.kind === 'broken')
  const wanted = one.tasks.filter(({ isWanted }) => isWanted).map(({ name }) => `+${name}`)
  const message = `${wanted.join(' ')}${one.kind === 'skipped' ? ' [skip millrace]' : ''}`
  const facts = {
    archive: 'A',
    rev,
    author: 'ada',
    message,
    branch: '',
    changedPaths: [],
    trigger: { type: 'commit' } as const,
  }
  const result = plan(definition, facts, history.before(facts))
  history.remember(result)
  const short = (key: string) => key.replace(/^A@/, '')
  return [...(result.commit ? [{ ...result.commit, cancels: [] }] : []), ...result.tasks].flatMap(
    ({ key, requires, cancels }) => [
      ...requires.map((edge) => `${short(key)} waits ${short(edge.key)} ${edge.when}`),
      ...cancels.map((target) => `${short(key)} cancels ${short(target)}`),
    ],
  )
}

test('a plan has the edges that the rules give for the whole history', () => {
  fc.assert(
    fc.property(fc.array(revision, { minLength: 1, maxLength: 7 }), (revisions) => {
      const model = new Model()
      const history = new RememberedHistory()
      for (const [rev, one] of revisions.entries()) {
        model.revisions.push(one)
        expect(planned(history, one, rev).sort()).toEqual([...new Set(model.edges(rev))].sort())
        const open = NAMES.flatMap((name) =>
          revisions.flatMap((_, at) => (at <= rev && model.isPresent(at, name) ? [`${at}:${name}`] : [])),
        )
        for (const end of one.ends) {
          const key = open[end % Math.max(open.length, 1)]
          if (key === undefined) continue
          model.over.add(key)
          history.end(`A@${key}`)
        }
      }
    }),
    { numRuns: inForm(200, 3000) },
  )
})
