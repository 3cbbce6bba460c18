// A user's program: type-checked and run against the packed package by test/package.test.ts.
import {
  type AddItem,
  connect,
  defineWorker,
  later,
  PermanentError,
  TaskNotFound,
  TransientError,
  unchanged,
} from 'millrace'
import { type Drained, drain, isLater, isUnchanged, type Performed, performNext, work } from 'millrace/testing'
import pg from 'pg'
import { z } from 'zod'

const databaseUrl = process.env['MILLRACE_TEST_DATABASE_URL'] ?? ''
const waited = new Set<string>()
const done = new Map<string, () => void>()
const isDone = (key: string) => new Promise<void>((resolve) => done.set(key, resolve))

const countLetters = defineWorker({
  kind: 'package.count',
  payload: z.object({ text: z.string(), after: z.string().optional() }),
  async work({ payload, signal }) {
    signal.throwIfAborted()
    if (payload.text === 'nothing') throw new PermanentError('nothing to count')
    if (payload.text === 'busy') throw new TransientError('come back')
    if (payload.after !== undefined && !waited.has(payload.after)) {
      waited.add(payload.after)
      return later({ requires: [payload.after] })
    }
    // @ts-expect-error The schema has no such field.
    void payload.texts
    return { letters: payload.text.length }
  },
  async onSuccess(tx, task, result) {
    const letters: number = result.letters
    // @ts-expect-error The result's type flows from what `work` returns: a number is no string.
    const wrong: string = result.letters
    void wrong
    await tx.query('create table if not exists counted (text text, letters int)')
    await tx.query('insert into counted values ($1, $2)', [task.payload.text, letters])
    done.get(task.payload.text)?.()
  },
  async onFailure(_tx, task) {
    done.get(task.payload.text)?.()
  },
})

const double = defineWorker({
  kind: 'package.double',
  payload: z.object({ n: z.number() }),
  work: ({ payload }) => ({ at: new Date(0), n: payload.n * 2 }),
  async onFailure(tx, _task, error, { attempt, category, isLast }) {
    const known: 'transient' | 'permanent' | 'advisory' = category
    if (isLast) await tx.query('select $1::int, $2::text, $3::text', [attempt, known, error.message])
  },
})

const millrace = await connect({ databaseUrl, migrate: true })
const ends = Promise.all(['millrace', 'wheel', 'nothing'].map(isDone))
const first = await millrace.add(countLetters, { text: 'millrace' })
const second = await millrace.add(countLetters, { text: 'wheel', after: first.id }, { priority: 1, scope: 'package' })
const third = await millrace.add(countLetters, { text: 'nothing' })

/** Never called: these lines are for the compiler alone. */
export async function refused() {
  // @ts-expect-error A payload of the wrong type is refused.
  await millrace.add(countLetters, { text: 7 })
  // @ts-expect-error A payload without a required field is refused.
  await millrace.add(countLetters, {})
  // @ts-expect-error An option that does not exist is refused.
  await millrace.add(countLetters, { text: 'x' }, { urgent: true })
  // @ts-expect-error What runs no statement is no client.
  await millrace.add(countLetters, { text: 'x' }, { client: databaseUrl })
  // @ts-expect-error The function alone is given what its tasks are given.
  await work(countLetters, { text: 7 })
  const [one, two, , four] = await millrace.addMany([
    { worker: countLetters, payload: { text: 'x' } },
    { worker: double, payload: { n: 1 }, requires: [{ item: 0 }] },
    { milestone: true, requires: [{ item: 1 }] },
    { worker: 'package.double', payload: { n: 1 } },
    // @ts-expect-error In a list each payload is that of its own worker.
    { worker: countLetters, payload: { n: 1 } },
    // @ts-expect-error
    { worker: double, payload: { n: '1' } },
    // @ts-expect-error A payload is needed.
    { worker: double },
    // @ts-expect-error An option that does not exist is refused.
    { worker: double, payload: { n: 1 }, urgent: true },
  ])
  // A list that is written out gives as many tasks.
  void [one.id, two.id, four.id]
  // @ts-expect-error A list that is made elsewhere is checked too.
  await millrace.addMany(['1', '2'].map((n) => ({ worker: double, payload: { n } })))
  const items: (AddItem<typeof countLetters> | AddItem<typeof double>)[] = []
  // @ts-expect-error
  items.push({ worker: double, payload: { text: 'x' } })
  await millrace.addMany([...items, { milestone: true }])
  const { payload, output } = await millrace.task(double, two.id)
  const n: number = payload.n
  // @ts-expect-error There is no output before the task has succeeded.
  void output.at
  // @ts-expect-error A date comes back as text.
  const at: Date | undefined = output?.at
  // @ts-expect-error Without the worker nothing is known of the output.
  void (await millrace.task(two.id)).output.at
  return { n, at }
}

const dispatcher = millrace.dispatch([countLetters], { concurrency: 2, queues: ['default'], leaseSeconds: 30 })
await ends
await dispatcher.stop()
const states = await Promise.all([first, second, third].map(async ({ id }) => (await millrace.task(id))?.state))

// With a client of the user's own, a task stands and falls with what else is in the transaction.
const client = new pg.Client({ connectionString: databaseUrl })
await client.connect()
await client.query('create table ordered (text text)')
const isThere = (id: string) =>
  millrace.task(id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof TaskNotFound) return false
      throw error
    },
  )
async function order(text: string, end: 'commit' | 'rollback') {
  await client.query('begin')
  await client.query('insert into ordered values ($1)', [text])
  const { id } = await millrace.add(countLetters, { text }, { client })
  const before = await isThere(id)
  await client.query(end)
  return { id, seen: [before, await isThere(id)] }
}
const withdrawn = await order('withdrawn', 'rollback')
const ordered = await order('ordered', 'commit')
const { rows } = await client.query<{ text: string }>('select text from ordered')
await client.end()

// What a user's own tests are written with.
const alone = await work(countLetters, { text: 'alone' })
if (isLater(alone)) throw new Error('it was to count')
const letters: number = alone.letters
const postponed = isLater(await work(countLetters, { text: 'late', after: 'another' }))
const sameAgain = defineWorker({ kind: 'package.same', payload: z.object({}), work: () => unchanged('same') })
const same = isUnchanged(await work(sameAgain, {}))
const next: Performed | undefined = await performNext(millrace, [countLetters])
await millrace.add(countLetters, { text: 'busy' }, { maxAttempts: 2 })
await millrace.add(sameAgain, {})
const { performed, counts }: Drained = await drain(millrace, [countLetters, sameAgain], { includeDelayed: true })
// @ts-expect-error An outcome is one of a few words.
void (performed[0]?.outcome === 'fine')
const [doubled] = await millrace.addMany([{ worker: double, payload: { n: 21 } }])
await drain(millrace, [double])
const read = (await millrace.task(double, doubled.id)).output
const typed = { at: read?.at.slice(0, 4), n: read?.n }
await millrace.close()

const own = { withdrawn: withdrawn.seen, ordered: ordered.seen, rows: rows.map(({ text }) => text) }
const tested = { letters, postponed, same, isNext: next?.id === ordered.id, counts }
console.log(JSON.stringify({ states, own, tested, typed }))
