// Servers that run commands and die: in a process of their own, by a signal that they hear or do not.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { database, type TestDatabase } from '../database.ts'
import { inForm } from '../long-form.ts'
import { below, command, shell, sleeping, speaking } from '../nodes.ts'
import { isAlive, waitFor } from '../processes.ts'
import type { Program } from '../program.ts'
import { scratch } from '../scratch.ts'
import { asker } from '../server.ts'
import { startServer } from './server-process.ts'

type Place = AsyncDisposable & { readonly db: TestDatabase; readonly path: string }

/** A database and a folder that outlive their servers. */
async function aPlace(): Promise<Place> {
  const db = await database()
  const { path } = await scratch()
  return { db, path, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}

async function start({ db, path }: Place, env: Record<string, string> = {}) {
  const { program, url } = await startServer({ databaseUrl: db.databaseUrl, data: join(path, 'data') }, env)
  const ask = await asker(url)
  return { program, ...speaking(() => ({ ask })) }
}

/** Kills the server in the hardest way, and lets its lease be over at once. */
async function killHard(program: Program, { db }: Place): Promise<void> {
  program.child.kill('SIGKILL')
  await program.exitCode
  await db.pool.query(
    `update millrace.dispatcher set lease_seconds = 1, expires_at = clock_timestamp() - interval '1 s' where process = $1`,
    [program.pid],
  )
}

/** Waits until the command has written its process id to the file. */
const pidIn = (file: string) =>
  waitFor(async () => (existsSync(file) ? Number((await readFile(file, 'utf8')).trim()) || undefined : undefined))

describe('T10: restart', () => {
  test('tree, data and outputs are kept, and ids go on', async () => {
    await using place = await aPlace()
    const first = await start(place)
    const ran = await first.run(
      below('root', shell('echo out; echo err >&2; exit 3'), { data: { own: [1] } }),
      below('#0', command('echo', 'child'), { data: { run_if: 'failure' } }),
    )
    first.program.child.kill('SIGTERM')
    expect(await first.program.exitCode).toBe(0)
    const second = await start(place)
    const ids = ran.map((node) => node.metadata.id)
    expect(await Promise.all(ids.map(second.get))).toEqual(ran)
    const waiting = second.ask('GET', `/v1/nodes?new=${ids[1]}`)
    const [added] = await second.add(sleeping(0))
    expect((await waiting).json.map((node: { id: string }) => node.id)).toEqual([added])
  })

  test('a command whose server was killed is reported as lost, nothing of it is left, and it is not run again', async () => {
    await using place = await aPlace()
    const [pids, runs] = [join(place.path, 'pids'), join(place.path, 'runs')]
    const first = await start(place)
    const [id, child, other] = await first.add(
      shell(`echo run >> ${runs}; echo started; setsid sleep 300 & echo $! > ${pids}; wait`),
      below('#0', command('true'), { data: { run_if: 'failure' } }),
      below('#0', command('true')),
    )
    const pid = await pidIn(pids)
    await waitFor(async () => ((await first.value(id as string, 'stdout')) === 'started\n' ? true : undefined))
    await killHard(first.program, place)
    const second = await start(place)
    expect(await second.ended(id as string, child as string, other as string)).toEqual([
      'failed',
      'finished',
      'skipped',
    ])
    const { data } = await second.get(id as string)
    const error = 'lost: its worker died, or lost the database, while it ran'
    expect(data).toMatchObject({ result: null, error, stdout: 'started\n' })
    expect(data).not.toHaveProperty('attempt')
    expect(isAlive(pid)).toBe(false)
    expect(await readFile(runs, 'utf8')).toBe('run\n')
  })

  test('a command that may be run again is, once what was left of it is gone', async () => {
    await using place = await aPlace()
    const [pids, runs] = [join(place.path, 'pids'), join(place.path, 'runs')]
    const first = await start(place)
    const script = `echo run >> ${runs}; echo $$ > ${pids}.$(wc -l < ${runs}); [ $(wc -l < ${runs}) -gt 1 ] || exec sleep 300`
    const [id] = await first.add(below('root', shell(script), { data: { rerun_if_lost: true } }))
    const pid = await pidIn(`${pids}.1`)
    await killHard(first.program, place)
    const second = await start(place)
    expect(await second.ended(id as string)).toEqual(['finished'])
    expect(isAlive(pid)).toBe(false)
    expect(await readFile(runs, 'utf8')).toBe('run\nrun\n')
  })

  test('another server that lives reports what a dead one ran, and goes on with the rest', async () => {
    await using place = await aPlace()
    const pids = join(place.path, 'pids')
    const first = await start(place, { MILLRACE_CONCURRENCY: '1' })
    const [id, next] = await first.add(
      shell(`echo $$ > ${pids}; exec sleep 300`),
      below('#0', command('true'), { data: { run_if: 'always' } }),
    )
    const pid = await pidIn(pids)
    const second = await start(place)
    const waiting = second.ended(id as string, next as string)
    await killHard(first.program, place)
    expect(await waiting).toEqual(['failed', 'finished'])
    await waitFor(() => (isAlive(pid) ? undefined : true))
  })

  test('a sleep and a condition go on where they were', async () => {
    await using place = await aPlace()
    const file = join(place.path, 'file')
    const first = await start(place)
    const [sleep, condition] = (await first.add(sleeping(2), {
      metadata: { type: 'condition', parent: 'root' },
      data: { file, interval: 0.2 },
    })) as [string, string]
    for (const id of [sleep, condition]) await first.reaches(id, 'running')
    const before = await first.get(sleep)
    await killHard(first.program, place)
    const second = await start(place)
    expect((await second.get(condition)).metadata.state).toBe('running')
    writeFileSync(file, '')
    expect(await second.ended(sleep, condition)).toEqual(['finished', 'finished'])
    const { metadata } = await second.get(sleep)
    expect(metadata.started_at).toBe(before.metadata.started_at)
    expect(new Date(metadata.finished_at).getTime() - new Date(metadata.started_at).getTime()).toBeGreaterThanOrEqual(
      2000,
    )
  })
})

describe('T10: stop', () => {
  test('a command that ends before the limit ends in order; one that does not is stopped and reported as lost', async () => {
    await using place = await aPlace()
    const [quick, slow, go] = ['quick', 'slow', 'go'].map((name) => join(place.path, name)) as [string, string, string]
    const first = await start(place, { MILLRACE_DRAIN_SECONDS: '8' })
    const [a, b, child] = (await first.add(
      shell(`echo $$ > ${quick}; while [ ! -e ${go} ]; do sleep 0.05; done; echo done`),
      shell(`echo $$ > ${slow}; echo before; trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done`),
      below('#1', command('true'), { data: { run_if: 'failure' } }),
    )) as [string, string, string]
    const pids = [await pidIn(quick), await pidIn(slow)]
    first.program.child.kill('SIGTERM')
    writeFileSync(go, '')
    expect(await first.program.exitCode).toBe(0)
    for (const pid of pids) expect(isAlive(pid)).toBe(false)
    const second = await start(place)
    expect(await second.ended(a, b, child)).toEqual(['finished', 'failed', 'finished'])
    expect((await second.get(a)).data.stdout).toBe('done\n')
    const lost = { error: 'lost: its server was stopped while it ran', stdout: 'before\nbye\n' }
    expect((await second.get(b)).data).toMatchObject(lost)
  })

  test('what has not started when a server stops starts at the next', async () => {
    await using place = await aPlace()
    const pids = join(place.path, 'pids')
    const first = await start(place, { MILLRACE_CONCURRENCY: '1' })
    const [busy, ...waiting] = await first.add(
      shell(`echo $$ > ${pids}; exec sleep 300`),
      ...Array.from({ length: 20 }, () => command('true')),
    )
    await pidIn(pids)
    first.program.child.kill('SIGTERM')
    await first.program.exitCode
    const second = await start(place)
    expect(new Set(await second.ended(...waiting))).toEqual(new Set(['finished']))
    expect(await second.ended(busy as string)).toEqual(['failed'])
  })
})

test('servers that are killed again and again lose and double no node', async () => {
  await using place = await aPlace()
  const [runs, ends, era] = ['runs', 'ends', 'era'].map((name) => join(place.path, name)) as [string, string, string]
  // What goes on after its server's death does not count as ended under it.
  const script = `era=$(cat ${era}); echo $MILLRACE_NODE >> ${runs}; sleep 0.2
    [ "$era" = "$(cat ${era})" ] && echo $MILLRACE_NODE >> ${ends}`
  writeFileSync(era, 'at first')
  const kills = inForm([10], [10, 40, 80])
  let server = await start(place, { MILLRACE_CONCURRENCY: '4' })
  const ids = await server.add(
    ...Array.from({ length: inForm(60, 120) }, (_, i) =>
      below(i < 20 ? 'root' : `#${i - 20}`, shell(script), { data: { run_if: 'always' } }),
    ),
  )
  for (const count of kills) {
    await waitFor(async () => {
      const text = existsSync(runs) ? await readFile(runs, 'utf8') : ''
      return text.split('\n').length > count ? true : undefined
    })
    await killHard(server.program, place)
    writeFileSync(era, `after ${count}`)
    server = await start(place, { MILLRACE_CONCURRENCY: '4' })
  }
  const states = await server.ended(...ids)
  const linesOf = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n')
  const [started, ended] = [await linesOf(runs), await linesOf(ends)]
  // Each ran once at most; one that is missing was lost between its claim and its first line.
  expect(new Set(started).size).toBe(started.length)
  const finished = ids.filter((_, i) => states[i] === 'finished')
  expect(finished.every((id) => ended.includes(id))).toBe(true)
  const failed = await Promise.all(ids.filter((_, i) => states[i] !== 'finished').map(server.get))
  for (const { data } of failed) expect(data.error).toMatch(/^lost: /)
  // No server had more under way than it may. Besides them it lost those that had ended and were not recorded yet: others
  // begin in their places meanwhile, so that their number is not bounded by the places.
  const broken = failed.filter(({ metadata }) => !ended.includes(metadata.id))
  expect(broken.length).toBeLessThanOrEqual(kills.length * 4)
  const { rows } = await place.db.pool.query('select * from millrace.verify()')
  expect(rows).toEqual([])
})

const MUCH_BYTES = inForm(300_000_000, 1_000_000_000)

test('of hundreds of megabytes of output both ends are kept, and the memory of the server stays flat', async () => {
  await using place = await aPlace()
  const { program, run, add, ended, ask } = await start(place)
  const printing = (bytes: number) => shell(`head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo the end`)
  await run(printing(10_000_000)) // what is loaded and made once
  const before = residentMegabytes(program.pid)
  const [id] = (await add(printing(MUCH_BYTES))) as [string]
  let most = before
  const looking = setInterval(() => {
    most = Math.max(most, residentMegabytes(program.pid))
  }, 50)
  expect(await ended(id).finally(() => clearInterval(looking))).toEqual(['finished'])
  // 32 MiB hold the end until it is stored.
  expect(most - before).toBeLessThan(100)
  const limit = 64 * 1024 * 1024
  const { metadata } = (await ask('GET', `/v1/nodes/${id}`)).json
  const { text } = await ask('GET', `/v1/tasks/${metadata.task}/log?start=${limit}`)
  const missing = MUCH_BYTES + 9 - limit - limit / 4
  const cut = '\n[millrace: output cut after 64 MiB; its last 16 MiB follow when the command has ended]'
  expect(text.slice(0, 200)).toContain(`${cut}\n[millrace: ${missing} bytes of stdout are missing here]\nxxx`)
  const { json } = await ask('GET', `/v1/tasks/${metadata.task}/log/lines?from_line=-1&stream=stdout`)
  expect(json.items.map((line: { text: string }) => line.text)).toEqual(['the end'])
})

const residentMegabytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
