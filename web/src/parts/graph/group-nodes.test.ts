import { expect, test } from 'vitest'
import { taskLooks } from '../state-badge.tsx'
import type { Graph, GraphNode } from './graph.ts'
import { depthsOf, groupNodes } from './group-nodes.ts'

const task = (id: string, more: Partial<GraphNode> = {}): GraphNode => ({ id, label: id, kind: 'task', ...more })
const depends = (from: string, to: string) => ({ from, to, kind: 'depends' as const })
const many = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}-${i}`)

const fan = (count: number): Graph => ({
  nodes: [task('COMMIT', { kind: 'commit' }), ...many(count, 'part').map((id) => task(id)), task('all')],
  edges: many(count, 'part').flatMap((id) => [depends('COMMIT', id), depends(id, 'all')]),
})

test('a small graph stays as it is', () => {
  const graph = fan(5)
  expect(groupNodes(graph)).toBe(graph)
})

test('nodes that wait for the same and are waited for by the same become one, which looks as the worst of them', () => {
  const { nodes, edges } = fan(1000)
  const states = nodes.map((node, i) => ({ ...node, look: i === 500 ? taskLooks.failed : taskLooks.succeeded }))
  const found = groupNodes({ nodes: states, edges })
  expect(found.nodes.map(({ label, note, look }) => [label, note, look?.word])).toEqual([
    ['COMMIT', undefined, 'succeeded'],
    ['part-0 and 999 more', '1000 tasks', 'failed'],
    ['all', undefined, 'succeeded'],
  ])
  expect(found.edges.map(({ from, to }) => [from, to])).toEqual([
    ['COMMIT', 'group of part-0'],
    ['group of part-0', 'all'],
  ])
})

test('a chain of a thousand becomes at most as many as are wanted, still in order', () => {
  const ids = many(1000, 'link')
  const graph = { nodes: ids.map((id) => task(id)), edges: ids.slice(1).map((id, i) => depends(`link-${i}`, id)) }
  const found = groupNodes(graph)
  expect(found.nodes.length).toBeLessThanOrEqual(300)
  expect(found.nodes.reduce((sum, { members }) => sum + (members?.length ?? 1), 0)).toBe(1000)
  const depths = depthsOf(found)
  expect(new Set(depths.values()).size).toBe(found.nodes.length)
  for (const { from, to } of found.edges) expect(depths.get(from)).toBeLessThan(depths.get(to) as number)
})

test('a random graph never gets a circle by grouping', () => {
  const ids = many(900, 'n')
  const edges = ids.flatMap((id, i) =>
    i === 0 ? [] : [depends(`n-${(i * 7919) % i}`, id), depends(`n-${i >> 1}`, id)],
  )
  const found = groupNodes({ nodes: ids.map((id) => task(id)), edges })
  expect(found.nodes.length).toBeLessThanOrEqual(300)
  const depths = depthsOf(found)
  for (const { from, to } of found.edges) expect(depths.get(from)).toBeLessThan(depths.get(to) as number)
})
