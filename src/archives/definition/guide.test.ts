// The guide's examples are files without findings, its table is the table of codes, and it knows every key.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codesTable } from './finding.ts'
import { workflowJsonSchema } from './json-schema.ts'
import { toNotation } from './notation.ts'
import { type Plan, plan } from './plan.ts'
import { readDefinition } from './read-definition.ts'
import { RememberedHistory } from './remembered-history.ts'

const guide = readFileSync(new URL('../../../docs/guides/workflows.md', import.meta.url), 'utf8')
const examples = [...guide.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
const read = (text: string) => readDefinition([{ path: '_workflows/example.yaml', bytes: Buffer.from(text) }])

test.for(examples)('an example of the guide has no findings: %s', (text) => {
  expect(read(text).problems).toEqual([])
})

test('the table of the guide is the table of codes', () => {
  // The guide's is padded.
  const bare = (table: string) => table.replace(/ *\| */g, '|').replace(/-{3,}/g, '---')
  expect(bare(guide)).toContain(bare(codesTable()))
})

test('the graph of the guide is what is planned', () => {
  const definition = read(examples.find((text) => text.includes('chapters\n')) as string)
  const history = new RememberedHistory()
  const plans = [1, 2, 3].map((rev): Plan => {
    const facts = {
      archive: 'A',
      rev,
      author: '',
      message: '',
      branch: '',
      changedPaths: [],
      trigger: { type: 'commit' } as const,
    }
    const planned = plan(definition, facts, history.before(facts))
    history.remember(planned)
    history.end('A@1:site')
    return planned
  })
  expect(guide).toContain(toNotation(plans.slice(2), { legend: true }))
})

test('the guide names every key and shows it in an example', () => {
  const keys = new Set<string>()
  const look = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { properties } = schema as { properties?: Record<string, unknown> }
    for (const key of Object.keys(properties ?? {})) keys.add(key)
    for (const value of Object.values(schema)) look(value)
  }
  look(workflowJsonSchema())
  expect(keys.size).toBeGreaterThan(30)
  for (const key of keys)
    expect(
      examples.some((text) => new RegExp(`(^|[\\s{,-])${key}:`, 'm').test(text)),
      key,
    ).toBe(true)
})
