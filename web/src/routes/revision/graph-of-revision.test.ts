import { expect, test } from 'vitest'
import type { LiveEvent } from '../../live.ts'
import { graphOfRevision, placeOf, type Revision } from './graph-of-revision.ts'
import { patchRevision } from './patch-revision.ts'

const task = (id: string, name: string, state: string, more: object = {}) => ({
  id,
  key: `A@2:${name}`,
  name,
  run: null,
  workflow: name === 'COMMIT' ? null : 'book',
  exclusive: false,
  state,
  started_at: null,
  finished_at: null,
  superseded_by: null,
  ...more,
})

const revision = {
  number: 2,
  state: 'planned',
  tasks: [task('1', 'COMMIT', 'succeeded'), task('2', 'index', 'ready'), task('3', 'pdf', 'waiting')],
  edges: [
    { from: 'A@1:COMMIT', to: 'A@2:COMMIT', kind: 'finished' },
    { from: 'A@2:COMMIT', to: 'A@2:index', kind: 'succeeded' },
    { from: 'A@2:COMMIT', to: 'A@2:pdf', kind: 'succeeded' },
    { from: 'A@1:index', to: 'A@2:index', kind: 'finished' },
    { from: 'A@2:index', to: 'A@2:pdf', kind: 'succeeded' },
    { from: 'A@1:pdf', to: 'A@2:pdf', kind: 'cancels' },
  ],
} as unknown as Revision

const event = (of: string, to: string, key = 'x') =>
  ({ task: of, key, to, at: '2026-01-01T00:00:05.000Z' }) as unknown as LiveEvent

test('earlier revisions stand as stubs, what is implied is not drawn, and whoever cancels points at what it cancels', () => {
  const { nodes, edges } = graphOfRevision(revision, 'A')
  expect(nodes.map(({ label, kind }) => `${kind} ${label}`)).toEqual([
    'commit COMMIT',
    'task index',
    'task pdf',
    'earlier r1 COMMIT',
    'earlier r1 index',
    'earlier r1 pdf',
  ])
  expect(edges.map(({ from, to, kind, when }) => [from, to, kind, when])).toEqual([
    ['A@1:COMMIT', 'A@2:COMMIT', 'depends', null],
    ['A@2:COMMIT', 'A@2:index', 'depends', null],
    ['A@1:index', 'A@2:index', 'depends', null],
    ['A@2:index', 'A@2:pdf', 'depends', null],
    ['A@2:pdf', 'A@1:pdf', 'cancels', undefined],
  ])
})

test('a key is read from its end, whatever the archive is called', () => {
  expect(placeOf('a@1:b/c d@12:pdf#7')).toEqual({ name: 'a@1:b/c d', rev: '12', task: 'pdf#7' })
  expect(placeOf('4711')).toBeUndefined()
})

test('events move tasks, and nothing else is fetched until one says less than is shown', () => {
  const running = patchRevision(revision, [event('2', 'running')])
  expect(running?.isOutdated).toBe(false)
  expect(running?.revision.state).toBe('running')
  expect(running?.revision.tasks[1]).toMatchObject({ state: 'running', started_at: '2026-01-01T00:00:05.000Z' })
  const ended = patchRevision(running?.revision as Revision, [event('2', 'succeeded'), event('3', 'skipped')])
  expect(ended?.isOutdated).toBe(true)
  expect(ended?.revision.tasks.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'skipped'])
  expect(patchRevision(revision, [event('99', 'running', '3:index')])).toBeUndefined()
  expect(patchRevision(revision, [event('99', 'ready', '2:index#7')])?.isOutdated).toBe(true)
})

test('a task that is asked for again has neither begun nor ended', () => {
  const failed = { ...revision, tasks: [task('2', 'index', 'failed', { started_at: 'then', finished_at: 'later' })] }
  const patched = patchRevision(failed as Revision, [event('2', 'ready')])
  expect(patched?.revision.tasks[0]).toMatchObject({ state: 'ready', started_at: null, finished_at: null })
})
