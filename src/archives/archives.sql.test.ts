import { expect, test } from 'vitest'
import { useEngine } from '../../test/engine.ts'
import { scratch } from '../../test/scratch.ts'
import { claimArchives, failLook, releaseArchive, storeNotice } from './archives.sql.ts'
import { createArchives } from './archives.ts'

const engine = useEngine()
const claim = (planner: string) => claimArchives(engine.pool, { planner, seconds: 60, poll: 3600, limit: 10 })

async function anArchive(name: string): Promise<string> {
  const { path } = await scratch()
  const { pool, millrace } = engine
  const onError = (error: Error) => expect.fail(String(error))
  const archives = createArchives({ pool, millrace, cacheDir: path, pollSeconds: 3600, onError })
  return (await archives.register(name, { source: { type: 'push' }, actor: 'test' })).archive.id
}

const tell = (archive: string, number: number) =>
  storeNotice(engine.pool, {
    archive,
    rev: String(number),
    number: String(number),
    txn: null,
    actor: 'test',
    content: '{}',
  })

test('an archive has one planner at a time', async () => {
  const archive = await anArchive('one')
  await tell(archive, 1)
  const both = await Promise.all([claim('a'), claim('b')])
  expect(both.flat().map(({ id }) => id)).toEqual([archive])
  expect(await claim('c')).toEqual([])
})

test('a notice that comes while an archive is looked at makes it due again, however the look ends', async () => {
  const archive = await anArchive('two')
  const endings = [
    () => releaseArchive(engine.pool, { archive, planner: 'a', again: false }),
    () => failLook(engine.pool, { archive, planner: 'a', problem: '{"code":"x"}', delay: 3600 }),
  ]
  for (const [i, end] of endings.entries()) {
    await tell(archive, 2 * i + 1)
    expect(await claim('a')).toMatchObject([{ id: archive, is_announced: true }])
    await tell(archive, 2 * i + 2)
    await end()
    expect(await claim('a')).toMatchObject([{ id: archive }])
    await releaseArchive(engine.pool, { archive, planner: 'a', again: false })
    expect(await claim('a')).toEqual([])
  }
})

test('an archive whose planner is silent for too long goes to another', async () => {
  const archive = await anArchive('three')
  await tell(archive, 1)
  await claim('dead')
  await engine.pool.query(
    `update millrace.archive_look set planner_until = now() - interval '1 s' where archive = $1`,
    [archive],
  )
  expect(await claim('b')).toMatchObject([{ id: archive }])
  // What the silent one does now is nothing to the one that has it.
  await releaseArchive(engine.pool, { archive, planner: 'dead', again: true })
  expect(await claim('c')).toEqual([])
})
