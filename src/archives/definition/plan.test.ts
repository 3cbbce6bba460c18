import { expect, test } from 'vitest'
import type { RevisionFacts } from './choose-tasks.ts'
import { toNotation } from './notation.ts'
import { type History, type Plan, plan } from './plan.ts'
import { readDefinition } from './read-definition.ts'

test('x', () => {
  const definition = readDefinition([
    {
      path: '_workflows/a.yaml',
      bytes: Buffer.from(`
- name: indexing
  depends:
    - PREV
  uses: index
- name: build-PDF
  depends:
    - indexing
  cancels:
    - PREV
  command: make
`),
    },
  ])
  const keys = ['A@1:COMMIT']
  const h: History = {
    previousOf: (name) => {
      const k = keys.findLast((x) => x.endsWith(`:${name}`))
      return k ? { rev: Number(k.slice(2, 3)), keys: [k] } : undefined
    },
    unfinishedOf: (name) => keys.filter((x) => x.endsWith(`:${name}`)),
    unfinishedExclusive: () => [],
  }
  const plans: Plan[] = []
  for (const rev of [2, 3]) {
    const facts: RevisionFacts = {
      archive: 'A',
      rev,
      author: 'a',
      message: '',
      branch: '',
      changedPaths: [],
      trigger: { type: 'commit' },
    }
    const p = plan(definition, facts, h)
    plans.push(p)
    keys.push(p.commit!.key, ...p.tasks.map((t) => t.key))
  }
  console.log(toNotation(plans, { legend: true }))
  expect(1).toBe(1)
})
