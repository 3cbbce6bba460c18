// Archives without a server, at a time of the test's own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchives, type Schedule } from '../src/archives/index.ts'
import { type Clock, Scheduler } from '../src/archives/scheduler.ts'
import { Schedules } from '../src/archives/schedules.ts'
import { transaction } from '../src/db/index.ts'
import { connect } from '../src/engine/index.ts'
import { database } from './database.ts'
import { waitFor } from './processes.ts'
import { shared } from './shared.ts'

async function aPlace() {
  const db = await database()
  const cacheDir = await mkdtemp(join(tmpdir(), 'millrace-scheduled-'))
  const millrace = await connect({ databaseUrl: db.databaseUrl })
  const archives = createArchives({ pool: db.pool, millrace, cacheDir, pollSeconds: 3600, onError: fail })
  const stopFollowing = archives.follow()
  return {
    pool: db.pool,
    millrace,
    archives,
    async [Symbol.asyncDispose]() {
      await stopFollowing()
      await millrace.close()
      await db[Symbol.asyncDispose]()
      await rm(cacheDir, { recursive: true, force: true })
    },
  }
}

const fail = (error: Error) => {
  throw error
}

/** A database for all tests of a file; answers what makes a world that begins at a time, with an archive of its own. */
export function useTimes() {
  const place = shared(aPlace)
  let worlds = 0
  return async (begin: string) => {
    worlds += 1
    return atTime(place, `Book-${worlds}`, begin)
  }
}

/** Begins at this time; `at` moves it. */
async function atTime({ pool, millrace, archives }: Awaited<ReturnType<typeof aPlace>>, name: string, begin: string) {
  let now = new Date(begin)
  const clock: Clock = () => Promise.resolve(now)
  const context = { pool, millrace }
  const schedules = new Schedules(context, clock)
  const all = () => schedules.list({ after: '0', limit: 100 })
  /** Ends all tasks. */
  const finishAll = () => pool.query(`select millrace.cancel(array(select id from millrace.live), null, null)`)
  let rev = 0
  const aScheduler = () => new Scheduler(context, { clock, onError: fail })
  return {
    pool,
    name,
    schedules,
    archives,
    aScheduler,
    all,
    /** Another one, as another server has. */
    scheduler: aScheduler(),
    at(time: string) {
      now = new Date(time)
    },
    /** Makes the next revision of the archive, as if it had been planned at the present time. */
    async commit(files: Readonly<Record<string, string>>) {
      if (rev === 0) await archives.register(name, { source: { type: 'push' }, from: 1, actor: 'test' })
      rev += 1
      const notice = { rev, actor: 'test', message: 'a change' }
      const all = Object.entries(files).map(([file, text]) => ({ path: `_workflows/${file}`, text }))
      await archives.arrive(name, { ...notice, files: all })
      const number = rev
      await waitFor(async () => ((await archives.find(name)).planned.number >= number ? true : undefined))
      await pool.query(
        `update millrace.revision set planned_at = $1
         where number = $2 and archive = (select id from millrace.archive where name = $3)`,
        [now, number, name],
      )
    },
    /** What came of the times of the only schedule, the oldest first: `03:00 planned`. */
    async story(id?: string): Promise<string[]> {
      const [only] = await all()
      const { ticks } = await schedules.get(id ?? (only as Schedule).id, 0)
      return ticks.map(({ at, outcome }) => `${at.toISOString().slice(0, 16)} ${outcome}`).reverse()
    },
    run: (id: string, actor: string) => transaction(pool, (tx) => schedules.run(tx, id, actor)),
    finishAll,
    async [Symbol.asyncDispose]() {
      await pool.query(`update millrace.archive set state = 'removed' where name = $1`, [name])
      await finishAll()
    },
  }
}
