// Looks at a database as `millrace doctor` does: nothing is changed there, and each thing that would keep Millrace from
// working is named with what would mend it.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagedBinaries } from './embedded-binaries.ts'
import { CLUSTER } from './embedded-cluster.ts'
import { listen } from './listen.ts'
import { schemaStatus } from './migrate.ts'
import type { Database, DatabaseOptions } from './open.ts'
import { openBeside } from './open-beside.ts'
import type { Pool } from './pool.ts'

export type Finding = {
  readonly check: string
  readonly state: 'good' | 'warning' | 'bad' | 'unknown'
  readonly evidence: string
  readonly fix: string | null
}

const SKEW_MS = 2_000 // leases are judged by the database's clock alone; beyond this, times that are shown look wrong
const CONNECTIONS = 20 // one process: its pool, its dispatcher and what listens
const NOTIFY_MS = 5_000

const good = (check: string, evidence: string): Finding => ({ check, state: 'good', evidence, fix: null })

/** What there is to say about the database that is named, or about the embedded one of the data directory. */
export async function examineDatabase(options: DatabaseOptions): Promise<Finding[]> {
  if (options.databaseUrl === undefined && !existsSync(join(resolve(options.dataDir), CLUSTER)))
    return [examinePackage()]
  let database: Database
  try {
    database = await openBeside(options)
  } catch (error) {
    const { message, remedy } = error as Error & { remedy?: string }
    return [{ check: 'database', state: 'bad', evidence: message, fix: remedy ?? null }]
  }
  try {
    return await examine(database)
  } finally {
    await database.stop()
  }
}

function examinePackage(): Finding {
  const check = 'database'
  try {
    const { version } = packagedBinaries()
    return good(check, `none yet; the first start makes an embedded one (PostgreSQL ${version.split('-')[0]})`)
  } catch (error) {
    const { message, remedy } = error as Error & { remedy?: string }
    return { check, state: 'bad', evidence: message, fix: remedy ?? null }
  }
}

async function examine({ pool, databaseUrl }: Database): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const look of [examineServer, examineClock, examineConnections, examineSchema]) {
    findings.push(await look(pool))
  }
  findings.push(await examineNotify(pool, databaseUrl))
  return findings
}

async function row<T>(pool: Pool, text: string): Promise<T> {
  const { rows } = await pool.query(text)
  return rows[0] as T
}

async function examineServer(pool: Pool): Promise<Finding> {
  const { version, role } = await row<{ version: string; role: string }>(
    pool,
    `select current_setting('server_version') as version, current_user as role`,
  )
  return good('database', `PostgreSQL ${version.split(' ')[0]}, as ${role}`)
}

async function examineClock(pool: Pool): Promise<Finding> {
  const before = Date.now()
  const { now } = await row<{ now: Date }>(pool, 'select clock_timestamp() as now')
  const roundMs = Date.now() - before
  const skewMs = Math.max(0, Math.abs(now.getTime() - (before + roundMs / 2)) - roundMs / 2)
  const evidence = `differs by ${(skewMs / 1000).toFixed(1)} s from the database's; it answers in ${roundMs} ms`
  if (skewMs <= SKEW_MS) return good('clock', evidence)
  return { check: 'clock', state: 'warning', evidence, fix: 'let both machines take their time from one source (NTP)' }
}

async function examineConnections(pool: Pool): Promise<Finding> {
  const { most, used } = await row<{ most: number; used: number }>(
    pool,
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
            (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`,
  )
  const evidence = `${used} of ${most} are in use`
  if (most - used >= CONNECTIONS) return good('connections', evidence)
  const fix = `raise max_connections, or put a pooler in front: a process uses up to ${CONNECTIONS}`
  return { check: 'connections', state: 'warning', evidence, fix }
}

/** Whether the schema is this release's, and if it is not, whether it can be brought up to date with these rights. */
async function examineSchema(pool: Pool): Promise<Finding> {
  const check = 'schema'
  const { version, known, pending, functionsCurrent } = await schemaStatus(pool)
  const { may, is_there } = await row<{ may: boolean; is_there: boolean }>(
    pool,
    `select has_database_privilege(current_database(), 'create') as may, to_regnamespace('millrace') is not null as is_there`,
  )
  if (version > known) {
    const evidence = `the database has ${version} and this release knows ${known}`
    return { check, state: 'bad', evidence, fix: 'run the newer release' }
  }
  if (pending.length === 0 && functionsCurrent) return examineRights(pool, `${version}, as this release needs it`)
  const evidence = is_there ? `the database has ${version} and this release needs ${known}` : 'there is none yet'
  if (!may && !is_there) {
    return {
      check,
      state: 'bad',
      evidence: `${evidence}, and this role may make none`,
      fix: 'grant create on the database to it',
    }
  }
  return {
    check,
    state: 'warning',
    evidence,
    fix: 'run millrace migrate up; serve does so by itself unless migrate is never',
  }
}

async function examineRights(pool: Pool, evidence: string): Promise<Finding> {
  const { lacking } = await row<{ lacking: string | null }>(
    pool,
    `select string_agg(c.relname, ', ') as lacking
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'millrace' and c.relkind in ('r', 'p')
       and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
         and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))`,
  )
  if (lacking === null) return good('schema', evidence)
  const fix = 'connect as the owner of the schema, or grant it select, insert, update and delete'
  return { check: 'schema', state: 'bad', evidence: `this role lacks rights on ${lacking}`, fix }
}

/** A pooler in transaction mode takes the subscription and then delivers to nobody: work is found by polling alone. */
async function examineNotify(pool: Pool, databaseUrl: string): Promise<Finding> {
  const listener = listen({
    databaseUrl,
    channels: [],
    onNotification: () => {},
    notify: (channel) => pool.query('select pg_notify($1, $2)', [channel, '']),
  })
  try {
    for (const until = Date.now() + NOTIFY_MS; Date.now() < until && !listener.isConnected; ) await sleep(20)
    if (listener.isConnected) return good('notifications', 'arrive')
  } finally {
    await listener.close()
  }
  const evidence = `none arrived within ${NOTIFY_MS / 1000} s: work is found by polling alone`
  const fix = 'connect to the server itself, or to a pooler in session mode'
  return { check: 'notifications', state: 'warning', evidence, fix }
}
