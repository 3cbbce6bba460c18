import { describe, expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { opened, write } from '../../test/repositories/kit.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { PermanentError } from '../engine/index.ts'
import { changedPaths } from './changed-paths.ts'
import { writeLines } from './task-command.ts'

const engine = useEngine()
const worker = aWorker({
  work({ payload }) {
    if (payload === 'failed') throw new PermanentError('it fails')
  },
})

type Revision = {
  /** What became of the task at this revision; undefined: it has none. */
  readonly task?: 'succeeded' | 'failed' | 'waiting'
  readonly changes: readonly (readonly [string, string])[]
  readonly isCut?: boolean
}

let count = 0

/** An archive with revisions from 1 on, and the task `build` at some of them. */
async function anArchive(...revisions: readonly Revision[]): Promise<string> {
  count += 1
  const name = `changed-${count}`
  const { rows } = await engine.pool.query(
    `insert into millrace.archive (name, created_by, first_number, planned_number, youngest_number, source, planned_id)
     values ($1, 'test', 1, $2, $2, '{}', 'x') returning id`,
    [name, revisions.length],
  )
  await engine.pool.query(`insert into millrace.definition (hash, files) values ('x', '[]') on conflict do nothing`)
  for (const [i, { task, changes, isCut }] of revisions.entries()) {
    await engine.pool.query(
      `insert into millrace.revision (archive, number, id, message, definition, changes, changes_cut)
       values ($1, $2, $3, '', 'x', $4, $5)`,
      [rows[0].id, i + 1, String(i + 1), JSON.stringify(changes), isCut ?? false],
    )
    if (task === undefined) continue
    const id = await engine.add(worker, task === 'waiting' ? { delaySeconds: 1e6 } : {}, task)
    await engine.drain(worker)
    await engine.pool.query(
      `insert into millrace.archive_task (archive, number, task, name) values ($1, $2, $3, 'build')`,
      [rows[0].id, i + 1, id],
    )
  }
  return name
}

const ask = (archive: string, number: number) =>
  changedPaths(engine.pool, undefined, { archive, name: 'build', rev: { number, id: String(number) } })

describe('changed paths', () => {
  test('are those since the last revision at which the task succeeded', async () => {
    const archive = await anArchive(
      { task: 'succeeded', changes: [['A', 'one']] },
      { task: 'failed', changes: [['A', 'two']] },
      {
        changes: [
          ['M', 'one'],
          ['D', 'folder/'],
        ],
      },
      {
        task: 'waiting',
        changes: [
          ['M', 'two'],
          ['A', 'four'],
        ],
      },
      { task: 'waiting', changes: [['A', 'five']] },
    )
    expect(await ask(archive, 2)).toEqual(['two'])
    expect(await ask(archive, 4)).toEqual(['folder/', 'four', 'one', 'two'])
    expect(await ask(archive, 5)).toEqual(['five', 'folder/', 'four', 'one', 'two'])
    // One that is asked for again at an older revision is not concerned with what came later.
    expect(await ask(archive, 1)).toEqual(['one'])
  })

  test('begin where the task first was when it has never succeeded', async () => {
    const archive = await anArchive(
      { changes: [['A', 'before']] },
      { task: 'failed', changes: [['A', 'two']] },
      { task: 'waiting', changes: [['A', 'three']] },
    )
    expect(await ask(archive, 3)).toEqual(['three', 'two'])
    expect(await ask('unknown', 3)).toEqual([])
  })

  test('are read from the repository where the database has not all of them', async () => {
    await using ground = await svnFiles()
    const plain = await ground.create()
    for (const text of ['1', '2']) {
      await plain.commit(async (copy) => {
        for (const file of ['a', 'b', 'folder/c']) await write(`${copy}/${file}`, text)
      }, text)
    }
    const repository = await opened(plain)
    const archive = await anArchive(
      { task: 'succeeded', changes: [['A', 'a']], isCut: true },
      { task: 'waiting', changes: [['A', 'a']], isCut: true },
    )
    const at = (number: number) =>
      changedPaths(engine.pool, repository, { archive, name: 'build', rev: { number, id: String(number) } })
    expect(await at(2)).toEqual(['a', 'b', 'folder/c'])
    expect(await at(1)).toEqual(['a', 'b', 'folder/', 'folder/c'])
  })

  test('are written one in a line, also those with a line feed', () => {
    expect(writeLines(['a b', 'c\nd', 'ü'])).toBe('a b\n"c\\nd"\nü\n')
  })
})
