import { expect, test } from 'vitest'
import { performing, untilState, useArchiveServer } from '../../test/archives.ts'
import { commandLineOf } from '../../test/command-line.ts'
import { waitFor } from '../../test/processes.ts'
import { aPushArchive } from '../../test/push-archive.ts'

const YEARLY = `
on:
  schedule: { cron: "0 3 29 2 *", timezone: Europe/Berlin }
  manual: { inputs: { edition: { default: draft } } }
tasks:
  - name: set
    command: make set
  - name: print
    command: make print
    depends: set
`

const server = useArchiveServer()

async function aBook() {
  const { name, commit } = await aPushArchive(server)
  await commit({ 'book.yaml': YEARLY })
  const cli = commandLineOf(server)
  const list = async () => JSON.parse((await cli(['schedule', 'ls', '--json'])).stdout)
  await waitFor(async () => ((await list()).length > 0 ? true : undefined))
  return { name, cli, list }
}

test('a workflow is run by hand with inputs, and what failed of it again', async () => {
  const { name, cli } = await aBook()
  const work = await performing(server.database)
  work.failing.add('1:set#1')
  const started = await cli(['run', name, 'book', '--input', 'edition=a=b', '--json'])
  expect(JSON.parse(started.stdout)).toMatchObject({ archive: name, rev: 1, run: '1', tasks: [{}, {}] })
  await untilState(server, `${name}@1:print#1`, 'skipped')
  work.failing.clear()
  const again = await cli(['rerun', `${name}@1`, '--only', 'failed', '--run', '1'])
  expect(again.stdout).toContain(`${name}@1:set#1`)
  await untilState(server, `${name}@1:print#1`, 'succeeded')
  const third = await cli(['rerun', `${name}@1:print#1`])
  expect(third.exitCode, third.stderr).toBe(0)
  const one = await cli(['run', name, '--task', 'set', '--rev', '1'])
  expect(one.stdout).toContain(`run 2 of ${name} at revision 1: 1 task`)
})

test('a revision is not run again unasked, and a dry run only lists what would be', async () => {
  const { name, cli } = await aBook()
  await performing(server.database)
  await cli(['run', name, 'book'])
  await untilState(server, `${name}@1:print#1`, 'succeeded')
  const whole = ['rerun', `${name}@1`, '--only', 'all', '--run', '1']
  const ends = async () => {
    const { stdout } = await cli(['ls', '--scope', `archive:${name}`, '--state', 'succeeded', '--json=id,finished_at'])
    return JSON.parse(stdout)
  }
  const before = await ends()
  const dry = await cli([...whole, '--dry-run', '--yes'])
  expect(dry.stdout).toContain(`${name}@1:set#1`)
  expect(dry.stderr).toContain('would rerun 2 tasks; nothing was changed')
  const unasked = await cli(whole)
  expect(unasked).toMatchObject({ exitCode: 2, stdout: '' })
  expect(unasked.stderr).toContain('there is nobody to ask')
  const declined = await cli(whole, { terminal: { columns: 100, rows: 30 }, stdin: 'n\n' })
  expect(declined.stderr).toContain('rerun these 2 tasks? [y/N]')
  expect(declined.exitCode).toBe(2)
  expect(await ends()).toEqual(before)
  expect((await cli([...whole, '--yes'])).stderr).toContain('asked again for 2 tasks')
})

test('what cannot be run is refused with the exit code that fits', async () => {
  const { name, cli } = await aBook()
  const codes: [string[], number][] = [
    [['run', name], 2],
    [['run', name, 'book', '--task', 'set'], 2],
    [['run', name, 'book', '--input', 'edition'], 2],
    [['run', name, 'book', '--input', 'other=1'], 2],
    [['run', name, 'nothing'], 3],
    [['run', 'Nobody', 'book'], 3],
    [['run', name, 'book', '--rev', '9'], 3],
    [['rerun', `${name}@1`], 2],
    [['rerun', `${name}@9`, '--only', 'all'], 3],
    [['rerun', `${name}@1`, '--only', 'all', '--filter', 'state:failed'], 2],
    [['rerun', `${name}@1`, `${name}@2`, '--only', 'all', '--yes'], 2],
    [['rerun', '1', '--only', 'failed'], 2],
    [['schedule', 'next', '999'], 3],
    [['schedule', 'ls', 'Nobody'], 3],
  ]
  for (const [args, code] of codes) expect((await cli(args)).exitCode, args.join(' ')).toBe(code)
})

test('schedules are listed, looked at, paused, run and resumed', async () => {
  const { name, cli, list } = await aBook()
  const [{ id }] = await list()
  expect((await cli(['schedule', 'ls', name])).stdout).toMatch(/book +0 3 29 2 \* Europe\/Berlin +active/)
  const next = await cli(['schedule', 'next', id, '--count', '2'])
  expect(next.stdout).toMatch(/next {2}20\d\d-02-29T02:00:00.000Z {2}20\d\d-02-29 03:00/)
  expect((await cli(['schedule', 'pause', id])).stdout).toContain('paused')
  expect(await list()).toMatchObject([{ state: 'paused', paused_by: 'admin', next_at: null }])
  const run = await cli(['schedule', 'run', id, '--json'])
  expect(JSON.parse(run.stdout)).toMatchObject({ archive: name, rev: 1, run: '1' })
  expect((await cli(['schedule', 'next', id])).stdout).toContain('planned run 1')
  expect((await cli(['schedule', 'resume', id, '--json'])).stdout).toContain('"state":"active"')
})

test('a server takes a time that has come', async () => {
  const { list } = await aBook()
  await server.database.pool.query(`update millrace.schedule set next_at = now() - interval '1 second'`)
  await waitFor(async () => (await list())[0].last?.outcome === 'planned' || undefined)
})
