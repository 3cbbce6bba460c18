import { expect, test } from 'vitest'
import { ABSENT, Cloth, codeOf, mergeOrders } from './cloth.ts'
import { patch } from './patch.ts'
import { anEvent, aPage, document, taskOf } from './woven.ts'

test('pages with other columns share one set of columns, in the order of the newest', () => {
  const cloth = new Cloth()
  cloth.weave(aPage(['COMMIT', 'b', 'c'], { 9: { cells: { COMMIT: 'succeeded', b: 'failed', c: 'running' } } }), true)
  cloth.weave(
    aPage(['COMMIT', 'a', 'c', 'b'], { 8: { cells: { COMMIT: 'succeeded', a: 'held', c: 'skipped' } } }),
    false,
  )
  expect(cloth.order.map((column) => cloth.columns[column]?.name)).toEqual(['COMMIT', 'a', 'b', 'c'])
  const state = (number: number, name: string) => cloth.state(number, cloth.find(name) ?? -1)
  expect([state(9, 'b'), state(8, 'a'), state(8, 'c')]).toEqual([codeOf.failed, codeOf.held, codeOf.skipped])
  expect([state(9, 'a'), state(8, 'b'), state(7, 'b')]).toEqual([ABSENT, ABSENT, ABSENT])
})

test('when the definition changes, the order of the newest page is the one that is shown', () => {
  const cloth = new Cloth()
  cloth.weave(aPage(['COMMIT', 'a', 'b'], { 8: { cells: { COMMIT: 'succeeded', a: 'held', b: 'held' } } }), true)
  cloth.weave(aPage(['COMMIT', 'b', 'a'], { 9: { cells: { COMMIT: 'succeeded', a: 'held', b: 'held' } } }), true)
  expect(cloth.order.map((column) => cloth.columns[column]?.name)).toEqual(['COMMIT', 'b', 'a'])
})

test('orders merge without losing or repeating anything', () => {
  expect(mergeOrders([], [0, 1, 2])).toEqual([0, 1, 2])
  expect(mergeOrders([0, 2, 4], [0, 1, 2, 3])).toEqual([0, 1, 2, 3, 4])
  expect(mergeOrders([0, 2, 1], [0, 1, 2])).toEqual([0, 2, 1])
})

test('a task is found by its number and knows its place', () => {
  const cloth = document()
  expect(cloth.task(3, 2)).toBe(String(taskOf(3, 2)))
  expect(cloth.locate(String(taskOf(3, 2)))).toEqual({ number: 3, column: 2 })
  expect(cloth.locate('77')).toBeUndefined()
})

test('an event changes its cell and nothing is to be fetched', () => {
  const cloth = document()
  const done = patch(cloth, [
    anEvent({ task: String(taskOf(4, 1)), key: '4:indexing', to: 'succeeded' }),
    anEvent({ task: String(taskOf(3, 2)), key: '3:build-PDF', to: 'canceled', culprit: String(taskOf(4, 2)) }),
    anEvent({ task: String(taskOf(4, 2)), key: '4:build-PDF', to: 'running' }),
  ])
  expect(done).toMatchObject({ stale: new Set(), changed: new Set([4, 3]), isGrown: false })
  expect([cloth.state(4, 1), cloth.state(3, 2), cloth.state(4, 2)]).toEqual([
    codeOf.succeeded,
    codeOf.superseded,
    codeOf.running,
  ])
})

test('canceled by a person is not superseded', () => {
  const cloth = document()
  patch(cloth, [anEvent({ task: String(taskOf(3, 2)), key: '3:build-PDF', to: 'canceled' })])
  expect(cloth.state(3, 2)).toBe(codeOf.canceled)
})

test('a new run, or a task that was not known, makes its row stale; an older run changes nothing', () => {
  const cloth = document()
  const later = String(taskOf(3, 2) + 500_000)
  expect(patch(cloth, [anEvent({ task: later, key: '3:build-PDF#7', to: 'waiting' })]).stale).toEqual(new Set([3]))
  expect(patch(cloth, [anEvent({ task: later, key: '2:another', to: 'waiting' })]).stale).toEqual(new Set([2]))
  const older = patch(cloth, [anEvent({ task: '5', key: '3:build-PDF#1', to: 'failed' })])
  expect([older.stale.size, older.changed.size]).toEqual([0, 0])
})

test('events of revisions that are not loaded, and those that change no state, are let pass', () => {
  const cloth = document()
  const { version } = cloth
  const done = patch(cloth, [
    anEvent({ task: '9', key: '900:indexing', to: 'succeeded' }),
    anEvent({ task: String(taskOf(4, 1)), key: '4:indexing', to: null }),
    anEvent({ task: String(taskOf(4, 1)), key: '4:indexing', to: 'running' }),
  ])
  expect([done.changed.size, done.stale.size, cloth.version]).toEqual([0, 0, version])
})

test('revisions that are planned or announced make the loom grow; what happens to the archive is told apart', () => {
  const cloth = document()
  expect(patch(cloth, [anEvent({ name: 'revision.planned', detail: { first: 5, last: 5 } })]).isGrown).toBe(true)
  expect(patch(cloth, [anEvent({ name: 'revision.announced', detail: { rev: 9 } })]).isGrown).toBe(true)
  expect(patch(cloth, [anEvent({ name: 'archive.held' })])).toMatchObject({ isGrown: false, isArchive: true })
})
