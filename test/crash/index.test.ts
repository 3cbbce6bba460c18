import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Pool } from '../../src/db/index.ts'
import { collect, openRepository } from '../../src/vcs/index.ts'
import { anArchive, countRows, stopStaging } from '../archive-index.ts'
import { useEngine } from '../engine.ts'
import { inForm } from '../long-form.ts'
import { waitFor } from '../processes.ts'
import { type Program, runProgram } from '../program.ts'
import { gitFiles } from '../repositories/git.ts'
import type { Ground } from '../repositories/ground.ts'
import { write } from '../repositories/kit.ts'
import { svnFiles } from '../repositories/svn.ts'
import { scratch } from '../scratch.ts'
import { kill } from './kit.ts'

const engine = useEngine()
const FILES = inForm(1100, 2500) // batches have 500

const grounds: [string, () => Promise<Ground>][] = [
  ['svn', svnFiles],
  ['git', gitFiles],
]

/** Stands in the way of the transaction that makes an index seen, when it has begun. */
async function stopPublishing(pool: Pool): Promise<() => Promise<void>> {
  const client = await pool.connect()
  await client.query('begin')
  await client.query('lock table millrace.indexed_revision in exclusive mode')
  await waitFor(async () => {
    const { rows } = await pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%publish_index%' and datname = current_database()`,
    )
    return rows.length > 0 ? true : undefined
  })
  return async () => {
    await client.query('rollback')
    client.release()
  }
}

async function filled(ground: Ground) {
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    for (let i = 0; i < FILES; i += 1) await write(join(folder, `folder ${i % 20}`, `file@${i}`), `text ${i}\n`)
  }, 'files')
  return plain
}

describe.each(inForm(grounds.slice(0, 1), grounds))('a program that indexes %s', (_, open) => {
  test('is killed between two batches and in its last step, and another one ends the work', async () => {
    await using ground = await open()
    const plain = await filled(ground)
    await using place = await scratch()
    const settings = { ...plain.options, cacheDir: place.path }
    const repository = openRepository(settings)
    const revision = await repository.youngest()
    const archive = await anArchive(engine, repository)
    const start = async (): Promise<Program> => {
      const args = [JSON.stringify({ databaseUrl: engine.databaseUrl, repository: settings })]
      const program = runProgram('test/crash/index-program.ts', { args })
      await program.line(/^ready /)
      return program
    }
    const before = await countRows(engine.pool, 'indexed_file')
    const id = await archive.add(1)
    for (const stop of [stopStaging, stopPublishing]) {
      const program = await start()
      const letGo = await stop(engine.pool)
      await kill(program)
      await letGo()
      expect(await countRows(engine.pool, 'index_staged')).toBeGreaterThan(0)
      expect(await countRows(engine.pool, 'indexed_file')).toBe(before)
      await expect(archive.files(1)).rejects.toMatchObject({ code: 'archive_not_indexed' })
    }
    const last = await start()
    await waitFor(async () => ((await engine.states(id))[0] === 'succeeded' ? true : undefined))
    await kill(last)
    const contents = await collect(repository.contents(repository.list('', revision, { recursive: true }), revision))
    const truth = contents.map(({ path, digest }) => `${path} ${digest?.toString('hex')}`).sort()
    expect((await archive.files(1)).map(({ path, digest }) => `${path} ${digest}`).sort()).toEqual(truth)
    expect(truth).toHaveLength(FILES)
    expect(await countRows(engine.pool, 'index_staged')).toBe(0)
    expect(await countRows(engine.pool, 'index_build')).toBe(0)
  })
})
