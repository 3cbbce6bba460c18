// A user's program: type-checked and run against the packed package by test/package.test.ts.
import { connect, defineWorker, later, PermanentError, TransientError } from 'millrace'
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
}

const dispatcher = millrace.dispatch([countLetters], { concurrency: 2, queues: ['default'], leaseSeconds: 30 })
await ends
await dispatcher.stop()
const states = await Promise.all([first, second, third].map(async ({ id }) => (await millrace.task(id))?.state))
await millrace.close()
console.log(JSON.stringify(states))
