import { expect, test } from 'vitest'
import { useTimes } from '../../test/scheduled.ts'

const atTime = useTimes()

const nightly = (more = '') => `
on:
  schedule: { cron: "0 3 * * *", timezone: Europe/Berlin${more} }
tasks:
  - name: night
    command: make night
`
const DAY = 'on: { commit: }\ntasks: [{ name: day, command: make day }]\n'

/** Of the tasks of runs. */
const keysOf = async ({ pool, name }: Awaited<ReturnType<typeof atTime>>) => {
  const { rows } = await pool.query("select key from millrace.task where scope = $1 and key like '%#%' order by id", [
    `archive:${name}`,
  ])
  return rows.map(({ key }) => key as string)
}

test('A11: a workflow runs when its time has come, at the newest revision, once', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  const { scheduler, pool } = world
  await world.commit({ 'night.yaml': nightly() })
  await scheduler.tick()
  expect(await world.all()).toMatchObject([
    { archive: world.name, workflow: 'night', overlap: 'skip', nextAt: new Date('2025-01-01T02:00:00Z'), last: null },
  ])
  world.at('2025-01-01T01:59:59Z')
  expect(await scheduler.tick()).toBe(1000)
  expect(await keysOf(world)).toEqual([])
  await world.commit({ 'night.yaml': nightly(), 'day.yaml': DAY })
  world.at('2025-01-01T02:00:00Z')
  await scheduler.tick()
  await scheduler.tick()
  expect(await keysOf(world)).toEqual(['2:night#1'])
  const { rows } = await pool.query(
    "select payload -> 'trigger' as trigger from millrace.task where scope = $1 and key = '2:night#1'",
    [`archive:${world.name}`],
  )
  expect(rows[0].trigger).toEqual({ type: 'schedule', run: '1', at: '2025-01-01T02:00:00.000Z' })
  expect(await world.all()).toMatchObject([
    { nextAt: new Date('2025-01-02T02:00:00Z'), last: { outcome: 'planned', run: '1', rev: 2 } },
  ])
})

test('what nobody took while no server ran becomes one run, and says since when', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  world.at('2025-01-11T12:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-11T02:00 planned'])
  const [only] = await world.all()
  const { ticks } = await world.schedules.get(only?.id ?? '', 0)
  expect(ticks[0]?.missedSince).toEqual(new Date('2025-01-01T02:00:00Z'))
  expect(only?.nextAt).toEqual(new Date('2025-01-12T02:00:00Z'))
})

test('across a change of the clocks each night has one run', async () => {
  await using world = await atTime('2025-03-28T12:00:00Z')
  await world.commit({ 'night.yaml': nightly(', overlap: allow').replace('0 3', '30 2') })
  await world.scheduler.tick()
  for (let hour = Date.parse('2025-03-28T12:00:00Z'); hour <= Date.parse('2025-04-01T12:00:00Z'); hour += 600_000) {
    world.at(new Date(hour).toISOString())
    await world.scheduler.tick()
  }
  expect(await world.story()).toEqual([
    '2025-03-29T01:30 planned',
    '2025-03-30T01:00 planned',
    '2025-03-31T00:30 planned',
    '2025-04-01T00:30 planned',
  ])
})

test('of many servers that look at once, one takes each moment', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  const many = Array.from({ length: 10 }, (_, i) => [`w${i}.yaml`, nightly().replace('night\n', `night${i}\n`)])
  await world.commit(Object.fromEntries(many))
  await world.scheduler.tick()
  const servers = Array.from({ length: 6 }, () => world.aScheduler())
  for (const day of ['02', '03', '04']) {
    world.at(`2025-01-${day}T02:30:00Z`)
    await Promise.all(servers.map((server) => server.tick()))
    // What all of them passed over, because another one was at the archive, the next look takes.
    await servers[0]?.tick()
    await world.finishAll()
  }
  const keys = await keysOf(world)
  expect(keys).toHaveLength(30)
  expect(new Set(keys).size).toBe(30)
})

test('a run is left out while the one before is not over, unless overlapping is allowed', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  for (const day of ['01', '02']) {
    world.at(`2025-01-${day}T02:00:00Z`)
    await world.scheduler.tick()
  }
  await world.finishAll()
  world.at('2025-01-03T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual([
    '2025-01-01T02:00 planned',
    '2025-01-02T02:00 skipped',
    '2025-01-03T02:00 planned',
  ])
  const [only] = await world.all()
  expect((await world.schedules.get(only?.id ?? '', 0)).ticks[1]?.reason).toBe('run 1 at revision 1 is not over')

  await world.commit({ 'night.yaml': nightly(', overlap: allow') })
  world.at('2025-01-04T02:00:00Z')
  await world.scheduler.tick()
  expect((await world.story()).at(-1)).toBe('2025-01-04T02:00 planned')
})

test('only the newest definition counts: what is gone does not run, what is the same goes on', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly(), 'other.yaml': nightly().replace(/night\n/g, 'other\n') })
  await world.scheduler.tick()
  const before = await world.all()
  await world.schedules.pause(before.find(({ workflow }) => workflow === 'night')?.id ?? '', 'ada')
  world.at('2025-01-01T01:00:00Z')
  await world.commit({
    'night.yaml': nightly(),
    'new.yaml': nightly().replace('night\n', 'new\n').replace('0 3', '0 4'),
  })
  await world.scheduler.tick()
  expect(
    (await world.all()).map(({ workflow, nextAt, pausedBy }) => [workflow, nextAt?.toISOString(), pausedBy]),
  ).toEqual([
    ['night', '2025-01-01T02:00:00.000Z', 'ada'],
    ['new', '2025-01-01T03:00:00.000Z', null],
  ])
})

test('a moment between planning and the look at the new definition is not lost', async () => {
  await using world = await atTime('2025-01-01T01:59:58Z')
  await world.commit({ 'night.yaml': nightly() })
  world.at('2025-01-01T02:00:03Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-01T02:00 planned'])
})

test('while the newest files have errors, schedules say so and do not run', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  await world.commit({ 'night.yaml': nightly(), 'broken.yaml': 'tasks: 7\n' })
  world.at('2025-01-01T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.all()).toMatchObject([
    { problem: 'the workflow files of revision 2 have errors', last: { outcome: 'refused' } },
  ])
  await world.commit({ 'night.yaml': nightly() })
  world.at('2025-01-02T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-01T02:00 refused', '2025-01-02T02:00 planned'])
  expect(await world.all()).toMatchObject([{ problem: null }])
})

test('a paused schedule does not run, and goes on with the next time after it was let go', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  const { id } = (await world.all())[0] ?? { id: '' }
  expect(await world.schedules.pause(id, 'ada')).toMatchObject({ pausedBy: 'ada' })
  world.at('2025-01-05T12:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual([])
  expect(await world.schedules.resume(id)).toMatchObject({ pausedAt: null, nextAt: new Date('2025-01-06T02:00:00Z') })
  await world.scheduler.tick()
  expect(await world.story()).toEqual([])
  await expect(world.schedules.pause('999', 'ada')).rejects.toMatchObject({ code: 'schedule_not_found' })
})

test('what is scheduled runs at once when asked for, and its next time stays', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  const { id } = (await world.all())[0] ?? { id: '' }
  expect(await world.run(id, 'ada')).toMatchObject({ archive: world.name, rev: 1, run: '1' })
  expect(await world.all()).toMatchObject([{ nextAt: new Date('2025-01-01T02:00:00Z') }])
  // It counts as the run before.
  world.at('2025-01-01T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-01T00:00 planned', '2025-01-01T02:00 skipped'])
})

test('a run by hand at the very moment of the schedule does not stop it', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly(', overlap: allow') })
  await world.scheduler.tick()
  const { id } = (await world.all())[0] ?? { id: '' }
  world.at('2025-01-01T02:00:00Z')
  await world.run(id, 'ada')
  await world.run(id, 'ada')
  await world.scheduler.tick()
  expect(await keysOf(world)).toEqual(['1:night#1', '1:night#2', '1:night#3'])
  expect(await world.all()).toMatchObject([{ nextAt: new Date('2025-01-02T02:00:00Z') }])
})

test('a held archive leaves its times out, and a removed one has none', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  await world.archives.hold(world.name)
  world.at('2025-01-01T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-01T02:00 skipped'])
  await world.archives.release(world.name)
  await world.archives.remove(world.name)
  world.at('2025-01-02T02:00:00Z')
  expect(await world.scheduler.tick()).toBeUndefined()
  expect(await world.all()).toEqual([])
})

test('a schedule that cannot be planned does not keep the others from running', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly(), 'other.yaml': nightly().replace(/night\n/g, 'other\n') })
  await world.scheduler.tick()
  await world.pool.query(
    `update millrace.schedule set workflow = 'gone', next_at = next_at - interval '1 hour'
     where workflow = 'night' and archive = (select id from millrace.archive where name = $1)`,
    [world.name],
  )
  world.at('2025-01-01T02:00:00Z')
  await world.scheduler.tick()
  expect((await world.all()).map(({ workflow, last }) => [workflow, last?.outcome])).toEqual([
    ['gone', 'refused'],
    ['other', 'planned'],
  ])
})

test('a time at which no condition holds is left out', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': `${nightly()}    if: trigger == "manual"\n` })
  await world.scheduler.tick()
  world.at('2025-01-01T02:00:00Z')
  await world.scheduler.tick()
  expect(await world.story()).toEqual(['2025-01-01T02:00 skipped'])
  const { id } = (await world.all())[0] ?? { id: '' }
  await expect(world.run(id, 'ada')).rejects.toMatchObject({ code: 'nothing_to_run' })
})

test('a transaction that breaks after planning leaves the moment to the next', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'night.yaml': nightly() })
  await world.scheduler.tick()
  await world.pool.query(
    `create function break_it() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`,
  )
  await world.pool.query(
    'create trigger break_it before insert on millrace.schedule_tick for each row execute function break_it()',
  )
  world.at('2025-01-01T02:00:00Z')
  await expect(world.scheduler.tick()).rejects.toThrow('broken')
  expect(await keysOf(world)).toEqual([])
  await world.pool.query('drop function break_it cascade')
  await world.scheduler.tick()
  expect(await keysOf(world)).toEqual(['1:night#1'])
})

test('the last hundred times are kept', async () => {
  await using world = await atTime('2025-01-01T00:00:00Z')
  await world.commit({ 'often.yaml': nightly(', overlap: allow').replace('0 3 * * *', '* * * * *') })
  await world.scheduler.tick()
  for (let minute = 1; minute <= 110; minute++) {
    world.at(new Date(Date.parse('2025-01-01T00:00:00Z') + minute * 60_000).toISOString())
    await world.scheduler.tick()
  }
  const [only] = await world.all()
  const { rows } = await world.pool.query(
    'select count(*)::int as count, max(at) as last from millrace.schedule_tick where schedule = $1',
    [only?.id],
  )
  expect(rows).toEqual([{ count: 100, last: new Date('2025-01-01T01:50:00Z') }])
})
