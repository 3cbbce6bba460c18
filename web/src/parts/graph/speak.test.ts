import { expect, test } from 'vitest'
import { taskLooks } from '../state-badge.tsx'
import type { Graph } from './graph.ts'
import { layOut } from './lay-out.ts'
import { related, speakEdges, speakNode } from './speak.ts'
import { stepTo } from './step-to.ts'

const graph: Graph = {
  nodes: [
    { id: 'c', label: 'COMMIT', kind: 'commit', look: taskLooks.succeeded },
    { id: 'p', label: 'r1 pdf', kind: 'earlier', look: taskLooks.canceled },
    { id: 'i', label: 'index', kind: 'task', look: taskLooks.running, note: '3 s' },
    { id: 'd', label: 'pdf', kind: 'task', look: taskLooks.waiting },
    { id: 'x', label: 'tell', kind: 'task', look: taskLooks.waiting },
  ],
  edges: [
    { from: 'c', to: 'i', kind: 'depends' },
    { from: 'i', to: 'd', kind: 'depends' },
    { from: 'd', to: 'p', kind: 'cancels' },
    { from: 'c', to: 'x', kind: 'depends', when: 'failed' },
  ],
}

test('a node says its state, what it waits for and what it cancels', () => {
  const spoken = speakEdges(graph)
  const said = graph.nodes.map((node) => speakNode(node, spoken(node.id)))
  expect(said).toEqual([
    'COMMIT, succeeded',
    'r1 pdf, of an earlier revision, canceled',
    'index, running, 3 s, waits for COMMIT',
    'pdf, waiting, waits for index, cancels r1 pdf',
    'tell, waiting, waits for COMMIT, once it has failed',
  ])
})

test('what is before and after a node is related to it, what is beside it is not', () => {
  expect([...related(graph.edges, 'i')].sort()).toEqual(['c', 'd', 'i', 'p'])
})

test('what waits is right of what it waits for and of what it cancels, and arrows lead there', () => {
  const boxes = graph.nodes.map(({ id }) => ({ id, width: 100, height: 30 }))
  const lines = graph.edges.map(({ from, to, kind }) => ({ from, to, isCancel: kind === 'cancels' }))
  const { places, paths, width } = layOut(boxes, lines)
  const x = (id: string) => places[id]?.x as number
  expect(x('c')).toBeLessThan(x('i'))
  expect(x('i')).toBeLessThan(x('d'))
  expect(x('p')).toBeLessThan(x('d'))
  expect(width).toBeGreaterThan(300)
  const first = paths[2]?.[0]?.x as number
  expect(first).toBeGreaterThan(paths[2]?.at(-1)?.x as number)
  expect(stepTo(places, 'i', 'ArrowLeft')).toBe('c')
  expect(stepTo(places, 'i', 'ArrowRight')).toBe('d')
  expect(stepTo(places, 'd', 'ArrowRight')).toBeUndefined()
})
