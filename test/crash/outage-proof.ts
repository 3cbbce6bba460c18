// What must be true after outages, as a list of what is not.
import type { Pool } from '../../src/db/index.ts'
import { count, findFaults } from './kit.ts'
import { type Fleet, type Outage, reached } from './outage-fleet.ts'
import { linesIn, REQUEST_LIMIT_SECONDS, type Work } from './outage-work.ts'

/** A shorter outage takes no lease away: two thirds of it, less the time until a silent connection is given up. */
const isHarmless = ({ leaseSeconds }: Fleet, { seconds }: Outage) => seconds <= (leaseSeconds * 2) / 3 - 5

/** The reasons that may be on record, by the name of their event. */
const TRUE_REASONS: Readonly<Record<string, RegExp>> = {
  handed_back: /^$/,
  later: /^$/,
  resumed: /^dispatcher \d+ is back as \d+, and no other attempt has begun$/,
  lease_lost: /^the lease ran out: its dispatcher died or lost the database$/,
  result_dropped: /^dispatcher \d+ had lost the lease of epoch \d+: what it did was not recorded$/,
  failed: /^lost: its worker died, or lost the database, while it ran$/,
}
/** They are due only where another attempt has taken over. */
const ONLY_OF_LOST = ['result_dropped', 'failed']
const ORDINARY = ['created', 'readied', 'claimed', 'succeeded']

/** What is not as it must be, in words. */
export async function findOutageFaults(fleet: Fleet, work: Work, outages: readonly Outage[]): Promise<string[]> {
  const harmful = outages.filter((outage) => outage.way === 'cut one' && !isHarmless(fleet, outage))
  const mayLose = harmful.flatMap((outage) => reached(fleet, outage).map(({ program }) => program.pid))
  const lost = await lostTasks(fleet.pool, mayLose)
  const isTaken = lost.size > 0 || harmful.every(({ seconds }) => seconds <= fleet.leaseSeconds)
  return [
    ...(isTaken ? [] : ['no task was taken from those that were cut off']),
    ...ofPrograms(fleet),
    ...(await ofLeases(fleet, mayLose)),
    ...(await ofRows(fleet, work, lost)),
    ...(await ofWork(fleet, work, lost)),
    ...ofRequests(work),
    ...(await ofReasons(fleet, lost)),
  ]
}

function ofPrograms({ servers, libraries }: Fleet): string[] {
  const ended = [...servers, ...libraries].flatMap(({ program: { child, pid, stderr } }) =>
    (child.exitCode ?? child.signalCode) === null ? [] : [`process ${pid} has ended: ${stderr()}`],
  )
  return [...ended, ...libraries.flatMap(({ program }) => program.stdout().match(/^error.*/gm) ?? [])]
}

async function ofLeases({ pool }: Fleet, mayLose: readonly number[]): Promise<string[]> {
  const { rows } = await pool.query(
    'select id, name from millrace.dispatcher where dead_at is not null and not process = any($1)',
    [mayLose],
  )
  return rows.map(({ id, name }) => `dispatcher ${id} (${name}) lost its lease`)
}

async function ofRows({ pool }: Fleet, work: Work, lost: ReadonlySet<string>): Promise<string[]> {
  const found = Object.entries(await findFaults(pool)).flatMap(([what, rows]) =>
    (rows as { id?: string }[])
      .filter(({ id = '' }) => what !== 'tasks that did not succeed' || !lost.has(id) || !work.nodes.has(id))
      .map((row) => `${what}: ${JSON.stringify(row)}`),
  )
  const nodes = await count(pool, 'millrace.node where task is not null')
  return nodes === work.nodes.size ? found : [...found, `${nodes} nodes were added for ${work.nodes.size} keys`]
}

/** Everything acknowledged has succeeded, and began once; of what was lost, a node fails and a task is performed again. */
async function ofWork({ pool }: Fleet, work: Work, lost: ReadonlySet<string>): Promise<string[]> {
  const succeeded = await idsOf(pool, `select id from millrace.done where state = 'succeeded'`)
  const nodes = [...work.nodes].flatMap(([task, file]) => {
    const lines = linesIn(file).join(' ')
    const isGood = succeeded.has(task) ? lines === 'begun ended' : lost.has(task) && /^begun( ended)?$/.test(lines)
    return isGood ? [] : [`the node of task ${task} wrote "${lines}"`]
  })
  const tasks = [...work.tasks].flatMap((task) => {
    const times = work.timesBegun(task)
    const isGood = succeeded.has(task) && (times === 1 || (lost.has(task) && times === 2))
    return isGood ? [] : [`task ${task} began ${times} times and has ${succeeded.has(task) ? '' : 'not '}succeeded`]
  })
  return [...nodes, ...tasks]
}

/** 503: the database is away. 409: the same request, which its client gave up, is still under way. */
const TRUE_STATUSES: readonly (number | undefined)[] = [201, 409, 503]

function ofRequests({ requests }: Work): string[] {
  const slow = requests.filter(({ seconds }) => seconds > REQUEST_LIMIT_SECONDS)
  const longest = Math.max(...slow.map(({ seconds }) => seconds))
  const failed = requests.filter(
    ({ seconds, status }) => seconds <= REQUEST_LIMIT_SECONDS && !TRUE_STATUSES.includes(status),
  )
  return [
    ...(slow.length > 0 ? [`${slow.length} requests took too long, up to ${longest.toFixed(1)} s`] : []),
    ...failed.map(({ seconds, status }) => `a request ended after ${seconds.toFixed(1)} s with ${status}`),
  ]
}

async function ofReasons({ pool, millrace }: Fleet, lost: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await pool.query(
    `select task, name, coalesce(error ->> 'message', cause, '') as reason from millrace.history where not name = any($1)`,
    [ORDINARY],
  )
  const found = (rows as { task: string; name: string; reason: string }[]).map(async ({ task, name, reason }) => {
    const { sentence } = await millrace.why(task)
    const isTrue = TRUE_REASONS[name]?.test(reason) && (name !== 'failed' || sentence === `failed: ${reason}`)
    const isDue = !ONLY_OF_LOST.includes(name) || lost.has(task)
    return isTrue && isDue ? [] : [`task ${task} has ${name} with the reason "${reason}", and ${sentence}`]
  })
  return (await Promise.all(found)).flat()
}

const idsOf = async (pool: Pool, sql: string, values: unknown[] = []) =>
  new Set((await pool.query(sql, values)).rows.map((row) => (row as { id: string }).id))

/** Tasks that were taken from these processes, and not given back. */
export const lostTasks = (pool: Pool, processes: readonly number[]): Promise<Set<string>> =>
  idsOf(
    pool,
    `select a.task as id from millrace.attempt a join millrace.dispatcher d on d.id = a.holder
     where a.outcome = 'lease_lost' and d.process = any($1)`,
    [processes],
  )
