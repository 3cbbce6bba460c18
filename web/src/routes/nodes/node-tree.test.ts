import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../../live.ts'
import { type AskNodes, type NodeQuery, NodeTree, type Top } from './node-tree.ts'
import type { TreeRow } from './patch-row.ts'

const aRow = (id: number, parent: number | 'root', more: Partial<TreeRow> = {}): TreeRow => ({
  id: String(id),
  type: 'command',
  parent: String(parent),
  state: 'incipient',
  run_if: 'success',
  branch: null,
  created_at: '2026-01-01T00:00:00Z',
  started_at: null,
  finished_at: null,
  task: String(1000 + id),
  summary: `make ${id}`,
  result: null,
  children: 0,
  ...more,
})

const anEvent = (name: string, key: string | null, more: Partial<LiveEvent> = {}): LiveEvent => ({
  id: '1',
  at: '2026-01-01T00:00:05Z',
  name,
  key,
  task: null,
  scope: 'node',
  kind: 'node',
  queue: null,
  from: null,
  to: null,
  cause: null,
  culprit: null,
  actor: null,
  dispatcher: null,
  detail: null,
  ...more,
})

/** A server with these nodes, that answers as the list does, and what it was asked. */
function aForest(rows: TreeRow[]) {
  const asked: NodeQuery[] = []
  const counted = () => {
    const below = new Map<string, TreeRow[]>()
    for (const row of rows) below.set(row.parent, [...(below.get(row.parent) ?? []), row].slice(-1000))
    return { all: rows.map((row) => ({ ...row, children: below.get(row.id)?.length ?? 0 })), below }
  }
  const ask: AskNodes = async (query) => {
    asked.push(query)
    const { all, below } = counted()
    if (query.down !== undefined) {
      const found = all.filter(({ id }) => id === query.down)
      const told = new Map(all.map((row) => [row.id, row]))
      for (const { id } of found) {
        if (found.length >= query.limit) break
        found.push(...(below.get(id) ?? []).map((child) => told.get(child.id) as TreeRow))
      }
      return { rows: found.slice(0, query.limit) }
    }
    const fits = all
      .filter(({ parent }) => query.parent === undefined || parent === query.parent)
      .filter(({ state }) => query.state === undefined || state === query.state)
      .filter(({ id }) => query.new === undefined || Number(id) > Number(query.new))
    const ordered = query.order === 'newest' ? fits.reverse() : fits
    const from = query.start === undefined ? 0 : ordered.findIndex(({ id }) => id === query.start) + 1
    const page = ordered.slice(from, from + query.limit)
    const last = page.at(-1)
    const hasMore = from + query.limit < ordered.length && last !== undefined
    return { rows: page, next: hasMore ? { start: last.id, pid: 'p' } : undefined }
  }
  return { rows, asked, ask }
}

async function aTree(rows: TreeRow[], top: Top = { is: 'roots' }) {
  const forest = aForest(rows)
  const tree = new NodeTree(forest.ask, top)
  await tree.start()
  const shown = () =>
    tree.view.lines.map((line) => (line.is === 'node' ? `${'.'.repeat(line.level - 1)}${line.row.id}` : line.is))
  return { tree, forest, shown }
}

const some = () => [aRow(1, 'root'), aRow(2, 1), aRow(3, 1), aRow(4, 3), aRow(5, 'root')]

describe('opening', () => {
  test('the trees come newest first, children oldest first, and only when they are opened', async () => {
    const { tree, forest, shown } = await aTree(some())
    expect(shown()).toEqual(['5', '1'])
    await tree.open('1')
    expect(shown()).toEqual(['5', '1', '.2', '.3'])
    tree.close('1')
    await tree.open('1')
    expect(forest.asked).toHaveLength(2)
  })

  test('ten thousand children come a page at a time', async () => {
    const wide = [aRow(1, 'root'), ...Array.from({ length: 10_000 }, (_, i) => aRow(i + 2, 1))]
    const { tree, forest } = await aTree(wide)
    await tree.open('1')
    expect(tree.view.lines).toHaveLength(102)
    expect(tree.view.lines[1]).toMatchObject({ position: 1, size: -1 })
    expect(tree.view.lines.at(-1)?.is).toBe('more')
    await tree.loadMore('1')
    expect(tree.view.lines).toHaveLength(202)
    expect(forest.asked).toHaveLength(3)
  })

  test('a chain opens hundreds of levels by one request, and is drawn however deep it is', async () => {
    const deep = Array.from({ length: 10_000 }, (_, i) => aRow(i + 1, i === 0 ? 'root' : i))
    const { tree, forest } = await aTree(deep)
    let last = '1'
    for (let i = 0; i < 20; i += 1) {
      await tree.openBelow(last)
      last = tree.view.lines.findLast((line) => line.is === 'node')?.key ?? ''
    }
    expect(last).toBe('10000')
    expect(tree.view.lines).toHaveLength(10_000)
    expect(forest.asked.length).toBeLessThan(50)
  })

  test('zooming shows one node and what is below it', async () => {
    const { shown } = await aTree(some(), { is: 'node', id: '3' })
    expect(shown()).toEqual(['3', '.4'])
  })
})

describe('events', () => {
  test('change the state, the times and the exit code of a row in place', async () => {
    const { tree, forest } = await aTree(some())
    await tree.hear([anEvent('claimed', '5', { from: 'ready', to: 'running' })])
    expect(tree.row('5')).toMatchObject({ state: 'running', started_at: '2026-01-01T00:00:05Z' })
    await tree.hear([anEvent('cancel_requested', '5', { from: 'running', to: 'running' })])
    expect(tree.row('5')?.state).toBe('killing')
    await tree.hear([anEvent('canceled', '5', { from: 'running', to: 'canceled' })])
    expect(tree.row('5')).toMatchObject({ state: 'killed', result: null })
    await tree.hear([anEvent('succeeded', '1', { to: 'succeeded' })])
    expect(tree.row('1')).toMatchObject({ state: 'finished', result: 0 })
    expect(forest.asked).toHaveLength(1)
  })

  test('a failure asks for the exit code of that row alone', async () => {
    const { tree, forest } = await aTree(some())
    Object.assign(forest.rows[4] as TreeRow, { state: 'failed', result: 3 })
    await tree.hear([anEvent('failed', '5', { to: 'failed' })])
    expect(tree.row('5')).toMatchObject({ state: 'failed', result: 3 })
    expect(forest.asked.at(-1)).toEqual({ down: '5', limit: 1 })
  })

  test('new nodes come where they belong by one request, and count with their parent', async () => {
    const { tree, forest, shown } = await aTree(some())
    await tree.open('1')
    forest.rows.push(aRow(6, 1), aRow(7, 'root'), aRow(8, 6))
    await tree.hear([anEvent('node.added', null, { detail: { first: '6', last: '8', count: 3 } })])
    expect(shown()).toEqual(['7', '5', '1', '.2', '.3', '.6'])
    expect(tree.row('1')?.children).toBe(3)
    expect(forest.asked.at(-1)).toEqual({ new: '5', limit: 3 })
  })

  test('new trees wait while somebody reads further down', async () => {
    const { tree, forest, shown } = await aTree(some())
    tree.isAtTop = false
    forest.rows.push(aRow(6, 'root'))
    await tree.hear([anEvent('node.added', null, { detail: { first: '6', count: 1 } })])
    expect(shown()).toEqual(['5', '1'])
    expect(tree.view.newCount).toBe(1)
    await tree.refresh()
    expect(shown()).toEqual(['6', '5', '1'])
  })

  test('what was removed or moved leaves its place', async () => {
    const { tree, forest, shown } = await aTree(some())
    await tree.open('1')
    await tree.open('3')
    forest.rows.splice(3, 1, aRow(4, 5))
    await tree.open('5')
    await tree.hear([anEvent('node.moved', '4', { detail: { node: '4', parent: '5' } })])
    expect(shown()).toEqual(['5', '.4', '1', '.2', '.3'])
    await tree.hear([anEvent('node.removed', '1')])
    expect(shown()).toEqual(['5', '.4'])
  })

  test('a filtered list says that it is outdated instead of jumping', async () => {
    const { tree, forest, shown } = await aTree([aRow(1, 'root', { state: 'failed' }), aRow(2, 'root')], {
      is: 'filter',
      state: 'failed',
    })
    expect(shown()).toEqual(['1'])
    forest.rows.push(aRow(3, 'root', { state: 'failed' }))
    await tree.hear([anEvent('failed', '3', { to: 'failed' })])
    expect(shown()).toEqual(['1'])
    expect(tree.view.isOutdated).toBe(true)
    await tree.refresh()
    expect(shown()).toEqual(['3', '1'])
  })

  test('after a break what is shown is asked for again, and stays open', async () => {
    const { tree, forest, shown } = await aTree(some())
    await tree.open('1')
    forest.rows.splice(1, 1)
    await tree.reset()
    expect(shown()).toEqual(['5', '1', '.3'])
  })
})

describe('however much happens', () => {
  /** A tree whose time passes when it is told to. */
  async function aPacedTree(rows: TreeRow[], top: Top = { is: 'roots' }) {
    const forest = aForest(rows)
    const waiting: (() => void)[] = []
    let isDown = false
    const ask: AskNodes = (query) => (isDown ? Promise.reject(new Error('no answer')) : forest.ask(query))
    const tree = new NodeTree(ask, top, (then) => {
      waiting.push(then)
      return () => {}
    })
    await tree.start()
    forest.asked.length = 0
    const pass = async () => {
      for (const then of waiting.splice(0)) then()
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    const failing = (id: number) => anEvent('failed', String(id), { to: 'failed' })
    const setDown = (is: boolean) => {
      isDown = is
    }
    return { tree, asked: forest.asked, rows: forest.rows, pass, failing, setDown }
  }
  const trees = (count: number) => Array.from({ length: count }, (_, i) => aRow(i + 1, 'root'))

  test('what came is asked for at once, and then together, once in a while', async () => {
    const { tree, asked, rows, pass } = await aPacedTree(trees(1))
    for (let id = 2; id <= 60; id += 1) {
      rows.push(aRow(id, 'root'))
      await tree.hear([anEvent('node.added', null, { detail: { first: String(id), count: 1 } })])
    }
    expect(asked).toEqual([{ new: '1', limit: 1 }])
    await pass()
    expect(asked.slice(1)).toEqual([{ new: '2', limit: 58 }])
    expect(tree.view.lines).toHaveLength(60)
  })

  test('a few rows are asked for one by one, and for many what is shown at all, so that none stays old', async () => {
    const { tree, asked, rows, pass, failing } = await aPacedTree(trees(90))
    for (const row of rows) Object.assign(row, { state: 'failed', result: 7 })
    await tree.hear([failing(1), failing(2)])
    expect(asked).toHaveLength(2)
    await tree.hear(rows.map(({ id }) => failing(Number(id))))
    expect(asked).toHaveLength(2)
    await pass()
    expect(asked.slice(2)).toEqual([{ parent: 'root', order: 'newest', limit: 100 }])
    expect(rows.every(({ id }) => tree.row(id)?.result === 7)).toBe(true)
  })

  test('the rows of a filtered list are asked for by and by', async () => {
    const { tree, asked, rows, pass, failing } = await aPacedTree(trees(50), { is: 'filter' })
    await tree.hear(rows.map(({ id }) => failing(Number(id))))
    expect(asked).toHaveLength(20)
    await pass()
    await pass()
    await pass()
    expect(asked).toHaveLength(50)
  })

  test('what could not be had is asked for with what happens next', async () => {
    const { tree, rows, pass, failing, setDown } = await aPacedTree(trees(2))
    rows.push(aRow(3, 'root'))
    Object.assign(rows[0] as TreeRow, { result: 7 })
    setDown(true)
    const heard = tree.hear([anEvent('node.added', null, { detail: { first: '3', count: 1 } }), failing(1)])
    await expect(heard).rejects.toThrow('no answer')
    setDown(false)
    await pass()
    await tree.hear([failing(2)])
    expect(tree.row('3')).toBeDefined()
    expect(tree.row('1')?.result).toBe(7)
  })

  test('what came where nobody has looked is not kept', async () => {
    const { tree, rows } = await aPacedTree(some())
    rows.push(aRow(6, 4), aRow(7, 1))
    await tree.hear([anEvent('node.added', null, { detail: { first: '6', count: 2 } })])
    expect(tree.row('6')).toBeUndefined()
    expect(tree.row('1')?.children).toBe(3)
  })
})

test('a branch that could not be had says so and is tried again', async () => {
  const forest = aForest(some())
  let isDown = false
  const tree = new NodeTree((query) => (isDown ? Promise.reject(new Error('no answer')) : forest.ask(query)), {
    is: 'roots',
  })
  await tree.start()
  isDown = true
  await tree.open('1')
  expect(tree.view.lines.at(-1)).toMatchObject({ is: 'failed', of: '1' })
  isDown = false
  await tree.loadMore('1')
  expect(tree.view.lines.filter(({ is }) => is === 'node')).toHaveLength(4)
})
