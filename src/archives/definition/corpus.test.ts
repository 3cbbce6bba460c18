// Every file of corpus/bad has its findings beside it, one per line: all of them, and no others. The files of one folder
// are those of one revision.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { type Finding, type FindingCode, findingCodes } from './finding.ts'
import { workflowJsonSchema } from './json-schema.ts'
import { lint } from './lint.ts'
import { readDefinition } from './read-definition.ts'
import type { FileBytes } from './source.ts'

const corpus = fileURLToPath(new URL('corpus', import.meta.url))

/** The cases below a folder of the corpus: each file, and each folder with its files. */
function casesOf(kind: 'good' | 'bad'): { title: string; files: FileBytes[] }[] {
  const isCase = (name: string) => !name.endsWith('.expect')
  return readdirSync(join(corpus, kind), { withFileTypes: true })
    .filter(({ name }) => isCase(name))
    .map((entry) => {
      const at = join(corpus, kind, entry.name)
      const paths = entry.isDirectory()
        ? readdirSync(at)
            .filter(isCase)
            .map((name) => join(at, name))
        : [at]
      return { title: entry.name, files: paths.map((path) => ({ path, bytes: readFileSync(path) })) }
    })
}

const shown = ({ code, line, column }: Finding) => `${code} ${line}:${column}`
const bad = casesOf('bad')
const good = casesOf('good')
const foundInBad = bad.flatMap(({ files }) => readDefinition(files).problems)

test('there are at least 80 bad files', () => {
  expect(bad.flatMap(({ files }) => files).length).toBeGreaterThanOrEqual(80)
})

test.for(bad)('exactly what is wrong is found in bad/$title', ({ files }) => {
  const { problems, workflows } = readDefinition(files)
  for (const { path } of files) {
    const expected = readFileSync(`${path}.expect`, 'utf8').split('\n').slice(0, -1)
    expect(problems.filter(({ file }) => file === path).map(shown)).toEqual(expected)
  }
  expect(problems).not.toEqual([])
  expect(workflows.length).toBe(problems.some(({ severity }) => severity === 'error') ? 0 : files.length)
})

test.for(good)('nothing is wrong in good/$title', ({ files }) => {
  const { problems, workflows } = readDefinition(files)
  expect(problems.map(shown)).toEqual([])
  expect(workflows.length).toBe(files.length)
})

test('the bad files show every code but those of size, which lint.test.ts shows', () => {
  const ofSize: FindingCode[] = ['too-large', 'too-many-tasks', 'more-findings']
  const codes = new Set([...foundInBad.map(({ code }) => code), ...ofSize])
  expect([...codes].sort()).toEqual(Object.keys(findingCodes).sort())
})

test('what is said is a sentence in lower case without a stop, and marks a place in the file', () => {
  for (const { message, suggestion, line, column, endLine, endColumn } of foundInBad) {
    for (const text of [message, suggestion ?? 'none'])
      expect(text).toMatch(/^([a-z0-9"*]|JSON|COMMIT|PREV)[^\n]*[^.\n]$/)
    expect(endLine > line || endColumn >= column).toBe(true)
  }
})

const accepts = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(workflowJsonSchema())
const valuesOf = (files: readonly FileBytes[]) =>
  lint(files).trees.map(({ value }) => JSON.parse(JSON.stringify(value)))

test.for(good)('the JSON Schema takes good/$title', ({ files }) => {
  for (const value of valuesOf(files)) expect(accepts(value) || accepts.errors).toBe(true)
})

test('the JSON Schema refuses what has the wrong shape', () => {
  const shapes: FindingCode[] = [
    'wrong-type',
    'wrong-value',
    'unknown-key',
    'missing-key',
    'missing-name',
    'out-of-range',
    'bad-name',
    'bad-reference',
    'bad-duration',
  ]
  // A schema knows no calendar: that a timeout of 31 days is too long is for the checks.
  const cases = bad.filter(
    ({ files, title }) =>
      !title.startsWith('timeout-') && lint(files).findings.some(({ code }) => shapes.includes(code)),
  )
  expect(cases.length).toBeGreaterThan(40)
  for (const { files, title } of cases)
    expect(
      valuesOf(files).some((value) => !accepts(value)),
      title,
    ).toBe(true)
})

test('the JSON Schema describes every key, with an example', () => {
  const bare: string[] = []
  const look = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') {
        for (const [name, property] of Object.entries(value as Record<string, Record<string, unknown>>)) {
          const isRef = '$ref' in property
          if (!isRef && !(typeof property['description'] === 'string' && Array.isArray(property['examples'])))
            bare.push(`${path}/${name}`)
        }
      }
      look(value, `${path}/${key}`)
    }
  }
  look(workflowJsonSchema(), '')
  expect(bare).toEqual([])
})
