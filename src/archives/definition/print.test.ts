// How findings and graphs are shown.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { graphOfDefinition, graphOfPlans } from './graph.ts'
import { plan } from './plan.ts'
import { printFindings } from './print-findings.ts'
import { printGraph } from './print-graph.ts'
import { readDefinition } from './read-definition.ts'
import { RememberedHistory } from './remembered-history.ts'
import { starterWorkflow } from './starter.ts'

const FILE = {
  path: '_workflows/a b,c.yaml',
  bytes: Buffer.from(
    '- name: a\n  command: make\n- name: a\n\tcommand: x\n'.replace('\t', '  ') +
      '- name: c\n  comand: make 100%\n  uses: index\n',
  ),
}
const { problems } = readDefinition([FILE])

test('findings as text show the line, the place and what to do', () => {
  expect(printFindings(problems, [FILE], 'text')).toBe(`\
_workflows/a b,c.yaml:3:9 error duplicate-task: there is a task "a" already
  2 |   command: make
> 3 | - name: a
    |         ^
  4 |   command: x
  _workflows/a b,c.yaml:1:9 the first one

_workflows/a b,c.yaml:6:3 error unknown-key: there is no key "comand" here
  5 | - name: c
> 6 |   comand: make 100%
    |   ^^^^^^
  7 |   uses: index
  did you mean command?

2 errors, 0 warnings in 1 file
`)
  expect(printFindings([], [FILE, FILE], 'text')).toBe('0 errors, 0 warnings in 2 files\n')
})

test('a line that is too long is cut, and one of several lines is marked to its end', () => {
  const long = {
    path: 'a.yaml',
    bytes: Buffer.from(`- name: ${'a'.repeat(300)}\n  command:\n    run: make\n    and: more\n`),
  }
  const text = printFindings(readDefinition([long]).problems, [long], 'text')
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(140)
  expect(text).toContain('> 3 |     run: make\n    |     ^^^^^^^^^\n')
})

test('a tab before the place stays a tab in the frame', () => {
  const json = { path: 'a.json', bytes: Buffer.from('[\n\t{"name": 1, "command": "make"}\n]') }
  expect(printFindings(readDefinition([json]).problems, [json], 'text')).toContain('    | \t         ^\n')
})

test('findings as JSON are the findings', () => {
  expect(JSON.parse(printFindings(problems, [FILE], 'json'))).toEqual(problems)
})

test('findings as SARIF name their rule, place and related places', () => {
  const [run] = JSON.parse(printFindings(problems, [FILE], 'sarif')).runs
  expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['duplicate-task', 'unknown-key'])
  expect(run.results[1]).toEqual({
    ruleId: 'unknown-key',
    ruleIndex: 1,
    level: 'error',
    message: { text: 'there is no key "comand" here (did you mean command?)' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: '_workflows/a%20b%2Cc.yaml' },
          region: { startLine: 6, startColumn: 3, endLine: 6, endColumn: 9 },
        },
      },
    ],
  })
  expect(run.results[0].relatedLocations).toHaveLength(1)
})

test('findings for GitHub are one command each, with everything escaped', () => {
  const [first, second, end] = printFindings(
    [...problems.slice(1), { ...(problems[0] as (typeof problems)[0]), endLine: 5, message: '100%\nof it' }],
    [FILE],
    'github',
  ).split('\n')
  expect(first).toBe(
    '::error file=_workflows/a b%2Cc.yaml,line=6,endLine=6,col=3,endColumn=9,title=unknown-key::there is no key "comand" here (did you mean command?)',
  )
  expect(second).toBe('::error file=_workflows/a b%2Cc.yaml,line=3,endLine=5,title=duplicate-task::100%25%0Aof it')
  expect(end).toBe('')
})

const seed = readDefinition([
  { path: 'a.yaml', bytes: readFileSync(new URL('corpus/good/seed-indexing.yaml', import.meta.url)) },
  { path: 'b.yaml', bytes: Buffer.from('- {name: tell, command: mail, depends: {task: build-PDF, when: failed}}') },
])
const graph = graphOfDefinition(seed)

test('a graph as text is in the notation of plans', () => {
  expect(printGraph(graph, 'text')).toBe(`\
PREV:COMMIT    <-- COMMIT
COMMIT         <-- indexing
PREV:indexing  <-- indexing
PREV:build-PDF <!= build-PDF
indexing       <-- build-PDF
build-PDF      <-- tell  // when failed
`)
})

test('a graph for mermaid and dot has a node for each task and an edge for each line', () => {
  expect(printGraph(graph, 'mermaid')).toBe(`\
flowchart LR
  n0[/"PREV:COMMIT"/]
  n1(["COMMIT"])
  n2["indexing"]
  n3["build-PDF"]
  n4["tell"]
  n5[/"PREV:indexing"/]
  n6[/"PREV:build-PDF"/]
  n0 --> n1
  n1 --> n2
  n5 --> n2
  n3 -. cancels .-x n6
  n2 --> n3
  n3 -->|when failed| n4
`)
  expect(printGraph(graph, 'dot')).toContain(
    '  n3 -> n6 [style=dashed, arrowhead=tee, label="cancels", constraint=false]\n',
  )
  expect(printGraph(graph, 'dot')).toMatch(/^digraph millrace \{\n( {2}.*\n)+\}\n$/)
})

test('the picture of a graph has every task right of what it waits for, and none upon another', () => {
  const svg = printGraph(graph, 'svg')
  const rects = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)" width="(\d+)"/g)].map(([, x, y, width]) =>
    [x, y, width].map(Number),
  )
  const labels = [...svg.matchAll(/font-size="14"[^>]*>([^<]*)</g)].map(([, label]) => label)
  const xOf = (label: string) => rects[labels.indexOf(label)]?.[0] ?? Number.NaN
  expect(xOf('COMMIT')).toBeLessThan(xOf('indexing'))
  expect(xOf('indexing')).toBeLessThan(xOf('build-PDF'))
  expect(xOf('build-PDF')).toBeLessThan(xOf('tell'))
  expect(new Set(rects.map(([x, y]) => `${x} ${y}`)).size).toBe(graph.nodes.length)
  expect(svg.match(/<path d="M[^"]*C/g)).toHaveLength(graph.edges.length)
})

test('the graph of plans shows the revisions and what they wait for', () => {
  const history = new RememberedHistory()
  const plans = [1, 2].map((rev) => {
    const facts = {
      archive: 'A',
      rev,
      author: '',
      message: '',
      branch: '',
      changedPaths: [],
      trigger: { type: 'commit' } as const,
    }
    const planned = plan(seed, facts, history.before(facts))
    history.remember(planned)
    return planned
  })
  expect(printGraph(graphOfPlans(plans.slice(1)), 'text')).toBe(`\
rev-1:COMMIT    <-- rev-2:COMMIT
rev-2:COMMIT    <-- rev-2:indexing
rev-1:indexing  <-- rev-2:indexing
rev-1:build-PDF <!= rev-2:build-PDF
rev-2:indexing  <-- rev-2:build-PDF
rev-2:build-PDF <-- rev-2:tell  // when failed
`)
})

test('a graph of nothing is empty in every format', () => {
  const none = graphOfPlans([])
  expect(printGraph(none, 'text')).toBe('')
  expect(printGraph(none, 'svg')).toMatch(/^<svg [^>]*>\n[\s\S]*<\/svg>\n$/)
})

test('the workflow to begin with has no findings', () => {
  const text = starterWorkflow('../schemas/workflow.v1.json')
  expect(readDefinition([{ path: '_workflows/hello.yaml', bytes: Buffer.from(text) }]).problems).toEqual([])
})
