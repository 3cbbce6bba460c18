// Archives without a server, at a time of the test's own.
import { createArchives, type Schedule } from '../src/archives/index.ts'
import { type Clock, Scheduler } from '../src/archives/scheduler.ts'
import { Schedules } from '../src/archives/schedules.ts'
import { transaction } from '../src/db/index.ts'
import { connect } from '../src/engine/index.ts'
import { database } from './database.ts'
import { waitFor } from './processes.ts'
import { scratch } from './scratch.ts'

/** Begins at this time; `at` moves it. */
export async function atTime(begin: string) {
  const db = await database()
  const { path } = await scratch()
  const millrace = await connect({ databaseUrl: db.databaseUrl })
  const fail = (error: Error) => {
    throw error
  }
  const archives = createArchives({ pool: db.pool, millrace, cacheDir: path, pollSeconds: 3600, onError: fail })
  const stopFollowing = archives.follow()
  let now = new Date(begin)
  const clock: Clock = () => Promise.resolve(now)
  const context = { pool: db.pool, millrace }
  const schedules = new Schedules(context, clock)
  const all = () => schedules.list({ after: '0', limit: 100 })
  let rev = 0
  const aScheduler = () => new Scheduler(context, { clock, onError: fail })
  return {
    pool: db.pool,
    schedules,
    archives,
    aScheduler,
    all,
    /** Another one, as another server has. */
    scheduler: aScheduler(),
    at(time: string) {
      now = new Date(time)
    },
    /** Makes the next revision of the archive "Book", as if it had been planned at the present time. */
    async commit(files: Readonly<Record<string, string>>) {
      if (rev === 0) await archives.register('Book', { source: { type: 'push' }, from: 1, actor: 'test' })
      rev += 1
      const notice = { rev, actor: 'test', message: 'a change' }
      const all = Object.entries(files).map(([name, text]) => ({ path: `_workflows/${name}`, text }))
      await archives.arrive('Book', { ...notice, files: all })
      const number = rev
      await waitFor(async () => ((await archives.find('Book')).planned.number >= number ? true : undefined))
      await db.pool.query('update millrace.revision set planned_at = $1 where number = $2', [now, number])
    },
    /** What came of the times of the only schedule, the oldest first: `03:00 planned`. */
    async story(id?: string): Promise<string[]> {
      const [only] = await all()
      const { ticks } = await schedules.get(id ?? (only as Schedule).id, 0)
      return ticks.map(({ at, outcome }) => `${at.toISOString().slice(0, 16)} ${outcome}`).reverse()
    },
    run: (id: string, actor: string) => transaction(db.pool, (tx) => schedules.run(tx, id, actor)),
    /** Ends all tasks. */
    finishAll: () => db.pool.query(`select millrace.cancel(array(select id from millrace.live), null, null)`),
    async [Symbol.asyncDispose]() {
      await stopFollowing()
      await millrace.close()
      await db[Symbol.asyncDispose]()
    },
  }
}
