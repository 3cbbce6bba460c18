import { expect, test, vi } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { connect } from './millrace.ts'

const engine = useEngine()

test('a dispatcher that is stopped while it starts leaves no connection behind', async () => {
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  const listeners = async () => {
    const { rows } = await engine.pool.query(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'millrace listen'`,
    )
    return rows.map((row) => row.pid as number)
  }
  const before = await listeners()
  for (const turns of [0, 1, 2, 4, 8, 16]) {
    const dispatcher = millrace.dispatch([aWorker()])
    for (let turn = 0; turn < turns; turn += 1) await engine.pool.query('select 1')
    await dispatcher.stop()
  }
  await millrace.close()
  await vi.waitFor(async () => expect((await listeners()).filter((pid) => !before.includes(pid))).toEqual([]))
})
