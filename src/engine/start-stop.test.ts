import { expect, test } from 'vitest'
import { emptyDatabase } from '../../test/database.ts'
import { aWorker, useEngine } from '../../test/engine.ts'
import { SchemaRefused } from './errors.ts'
import { connect } from './millrace.ts'

const engine = useEngine()

test('a database without the schema is refused at once, with the remedy', async () => {
  await using db = await emptyDatabase()
  const error = await connect({ databaseUrl: db.databaseUrl }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SchemaRefused)
  expect(error).toMatchObject({
    code: 'schema_missing',
    message: expect.stringMatching(/^the database has no Millrace schema; connect with `migrate: true`/),
    remedy: expect.stringContaining('millrace migrate up'),
  })
})

test.each([
  ['newer', 'version = version + 1', 'schema_too_new', 'update Millrace'],
  ['older', 'version = version - 1', 'schema_too_old', 'migrate: true'],
  ['another', `functions_digest = 'another'`, 'schema_differs', 'migrate: true'],
])('a schema of %s release is refused, with the remedy', async (_which, change, code, remedy) => {
  const { rows } = await engine.pool.query('select version, functions_digest from millrace.schema_version')
  await engine.pool.query(`update millrace.schema_version set ${change}`)
  const refusal = { code, remedy: expect.stringContaining(remedy) }
  try {
    await expect(connect({ databaseUrl: engine.databaseUrl })).rejects.toMatchObject(refusal)
    if (code === 'schema_too_new')
      await expect(connect({ databaseUrl: engine.databaseUrl, migrate: true })).rejects.toMatchObject(refusal)
  } finally {
    const { version, functions_digest: digest } = rows[0]
    await engine.pool.query('update millrace.schema_version set version = $1, functions_digest = $2', [version, digest])
  }
})

test.each(['repeatable read', 'serializable'])(
  'a database whose default isolation is %s works all the same',
  async (level) => {
    const [{ name }] = (await engine.pool.query('select current_database() as name')).rows
    await engine.pool.query(`alter database ${name} set default_transaction_isolation = '${level}'`)
    try {
      const errors: Error[] = []
      const onError = (error: Error) => errors.push(error)
      const millrace = await connect({ databaseUrl: engine.databaseUrl, onError })
      const worker = aWorker()
      const [first, second] = await millrace.addMany([
        { worker, payload: 1 },
        { worker, payload: 2, requires: [{ item: 0 }] },
      ])
      const dispatcher = millrace.dispatch([worker], { onError })
      await dispatcher.idle()
      expect(await engine.states(first.id, second.id)).toEqual(['succeeded', 'succeeded'])
      await millrace.rerun(first.id)
      await millrace.close()
      expect(errors).toEqual([])
    } finally {
      await engine.pool.query(`alter database ${name} reset default_transaction_isolation`)
    }
  },
)

test('a dispatcher that cannot start warns where no one hears its errors', async () => {
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  const warnings: string[] = []
  const hear = (warning: Error) => void warnings.push(warning.message)
  process.on('warning', hear)
  await engine.pool.query('alter function millrace.begin_behind rename to begun_behind')
  try {
    millrace.dispatch([aWorker()])
    await expect.poll(() => warnings).toContainEqual(expect.stringContaining('begin_behind'))
  } finally {
    process.off('warning', hear)
    await engine.pool.query('alter function millrace.begun_behind rename to begin_behind')
    await millrace.close()
  }
})

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
  await expect.poll(async () => (await listeners()).filter((pid) => !before.includes(pid))).toEqual([])
})

test('a dispatcher that is asked while it starts performs what is there, registers once, and stops', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  const dispatcher = millrace.dispatch([worker], { name: 'asked early' })
  const asked: Promise<void>[] = []
  const asking = setInterval(() => asked.push(dispatcher.idle()), 0)
  await dispatcher.idle()
  clearInterval(asking)
  await Promise.all(asked)
  expect(await engine.states(id)).toEqual(['succeeded'])
  const { rows } = await engine.pool.query(`select id from millrace.dispatcher where name = 'asked early'`)
  expect(rows).toEqual([{ id: dispatcher.id }])
  await millrace.close()
})

test('a dispatcher that has started hears what is added from then on', async () => {
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  const dispatcher = millrace.dispatch([aWorker()])
  await dispatcher.started
  const { rows } = await engine.pool.query(
    `select query from pg_stat_activity where datname = current_database() and application_name = 'millrace listen'`,
  )
  expect(rows).toEqual([{ query: expect.stringMatching(/^listen "millrace_probe/) }])
  await millrace.close()
})

test('a dispatcher that cannot start says so, and leaves no lease, connection or timer behind', async () => {
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  const errors: Error[] = []
  // The last of what a start does in the database.
  await engine.pool.query('alter function millrace.begin_behind rename to begun_behind')
  try {
    const dispatcher = millrace.dispatch([aWorker()], { name: 'cannot', onError: (error) => errors.push(error) })
    await expect(dispatcher.started).rejects.toThrow('begin_behind')
    const left = `
      select (select count(*)::int from millrace.dispatcher where name = 'cannot' and stopped_at is null) as alive,
        (select count(*)::int from pg_stat_activity
         where datname = current_database() and application_name in ('millrace dispatch', 'millrace listen')) as connected`
    await expect.poll(async () => (await engine.pool.query(left)).rows).toEqual([{ alive: 0, connected: 0 }])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('begin_behind')])
  } finally {
    await engine.pool.query('alter function millrace.begun_behind rename to begin_behind')
    await millrace.close()
  }
})

test('a dispatcher whose rehearsal fails starts all the same', async () => {
  const worker = aWorker()
  const id = await engine.add(worker)
  const millrace = await connect({ databaseUrl: engine.databaseUrl })
  await engine.pool.query('alter function millrace.rehearse rename to rehearsed')
  try {
    const dispatcher = millrace.dispatch([worker])
    await dispatcher.started
    await dispatcher.idle()
    expect(await engine.states(id)).toEqual(['succeeded'])
  } finally {
    await engine.pool.query('alter function millrace.rehearsed rename to rehearse')
    await millrace.close()
  }
})
