import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCycles } from './find-cycles.ts'

test('each group of nodes that reach each other gives one shortest cycle through its first node', () => {
  const graph: Record<string, string[]> = {
    a: ['b', 'c'],
    b: ['d'],
    c: ['a'],
    d: ['a', 'e'],
    e: ['f'],
    f: ['e'],
    g: ['g', 'a'],
    h: ['a'],
  }
  expect(findCycles(Object.keys(graph), (node) => graph[node] ?? [])).toEqual([['a', 'c'], ['e', 'f'], ['g']])
})

test('a cycle is found exactly where a node reaches itself', () => {
  const edges = fc.uniqueArray(fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })), { maxLength: 14, selector: String })
  fc.assert(
    fc.property(edges, (list) => {
      const nodes = Array.from({ length: 8 }, (_, i) => String(i))
      const next = (node: string) => list.filter(([from]) => String(from) === node).map(([, to]) => String(to))
      const reaches = (from: string) => {
        const seen = new Set<string>()
        const open = next(from)
        for (const node of open) if (!seen.has(node) && seen.add(node)) open.push(...next(node))
        return seen
      }
      const cycles = findCycles(nodes, next)
      for (const cycle of cycles)
        for (const [i, node] of cycle.entries()) expect(next(node)).toContain(cycle[(i + 1) % cycle.length])
      const inCycles = nodes.filter((node) => reaches(node).has(node))
      // Each such node belongs to the group of exactly one cycle that was found.
      for (const node of inCycles)
        expect(
          cycles.filter(([first = '']) => first === node || (reaches(node).has(first) && reaches(first).has(node))),
        ).toHaveLength(1)
      if (inCycles.length === 0) expect(cycles).toEqual([])
    }),
    { numRuns: 500 },
  )
})
