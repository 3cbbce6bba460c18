// What the outbox told of each task must be its life: every change of its state, once, in the true order.
import { expect } from 'vitest'
import type { Db } from '../../src/db/index.ts'
import { taskStates } from '../../src/engine/index.ts'
import { readEvents, sequence } from '../../src/engine/outbox.ts'
import type { TaskEvent } from '../../src/engine/task-event.ts'

type Life = { id: string; state: string; states: string[] }

const LIVES = `
  select t.id::text, coalesce(l.state, d.state)::text as state,
    (
      select array_agg(h.next::text order by h.at, h.rank)
      from millrace.history h
      where h.task = t.id and h.next is not null and h.name <> 'cancel_requested'
    ) as states
  from millrace.task t left join millrace.live l on l.id = t.id left join millrace.done d on d.id = t.id
  order by t.id
`

const LEGAL = new Set([...taskStates.mermaid().matchAll(/(\w+) --> (\w+)/g)].map(([, from, to]) => `${from} → ${to}`))

/** Reads the whole line of events. */
export async function readAll(db: Db): Promise<TaskEvent[]> {
  const events: TaskEvent[] = []
  for (let after = 'oldest', hasMore = true; hasMore; ) {
    const page = await readEvents(db, { after, limit: 10_000 })
    events.push(...page.events)
    ;({ next: after, hasMore } = page)
  }
  return events
}

/** Compares what subscribers were told with what is so, and with the history. Nothing may run meanwhile. */
export async function checkTold(db: Db): Promise<void> {
  await sequence(db as never)
  const events = await readAll(db)
  expect(
    events.map((event) => event.id),
    'numbers of events',
  ).toEqual(events.map((_, i) => String(i + 1)))
  const told = new Map<string, TaskEvent[]>()
  for (const event of events) {
    const { task } = event
    if (task === null) continue // of a worker that died, not of a task
    const before = told.get(task)
    if (before === undefined) told.set(task, [event])
    else before.push(event)
  }
  const { rows } = (await db.query({ text: LIVES })) as { rows: Life[] }
  expect([...told.keys()].sort(), 'tasks that were told of').toEqual(rows.map((row) => row.id).sort())
  for (const { id, state, states } of rows) {
    const changes = (told.get(id) ?? []).filter((event) => event.to !== null)
    const path = changes.map((event) => event.to)
    expect(
      changes.map((event) => event.from),
      `states that task ${id} was told to come from, on its way ${path.join(' → ')}`,
    ).toEqual([null, ...path.slice(0, -1)])
    const illegal = changes.slice(1).map(({ from, to }) => `${from} → ${to}`)
    expect(
      illegal.filter((step) => !LEGAL.has(step)),
      `illegal steps of task ${id}`,
    ).toEqual([])
    expect(path.at(-1), `the last state that was told of task ${id}`).toBe(state)
    expect(path, `what was told of task ${id}, and its history`).toEqual(states)
  }
}
