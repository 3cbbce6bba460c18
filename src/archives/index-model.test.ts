// Random histories: whatever was indexed, in whichever order, is what a look at every file finds.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anArchive, type Shown, scan } from '../../test/archive-index.ts'
import { useEngine } from '../../test/engine.ts'
import { inForm } from '../../test/long-form.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { opened } from '../../test/repositories/kit.ts'
import { commitRandomly, dice } from '../../test/repositories/random.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import type { Repository } from '../vcs/index.ts'

const engine = useEngine()
const SEED = Number(process.env['MILLRACE_TEST_SEED'] ?? Date.now() % 100_000)
const REVISIONS = 12

/** What every revision really is. In git, a file that is different from the revision before was changed by it. */
async function scanAll(repository: Repository): Promise<Shown[][]> {
  const all: Shown[][] = [[]]
  const changed = new Map<string, number>()
  const { number: youngest } = await repository.youngest()
  for (let number = 1; number <= youngest; number += 1) {
    const plain = await scan(repository, await repository.revision(number))
    const before = new Map(all[number - 1]?.map((file) => [file.path, factsOf(file)]))
    for (const file of plain) if (before.get(file.path) !== factsOf(file)) changed.set(file.path, number)
    const isSvn = repository.type === 'svn'
    all.push(isSvn ? plain : plain.map((file) => ({ ...file, lastChanged: changed.get(file.path) ?? -1 })))
  }
  return all
}

const factsOf = ({ digest, kind, properties }: Shown) => JSON.stringify([digest, kind, properties])

async function indexedNumbers(archive: string): Promise<{ number: number; file_count: number }[]> {
  const { rows } = await engine.pool.query(
    `select r.number::int, r.file_count::int
     from millrace.indexed_revision r join millrace.archive a on a.id = r.archive
     where a.name = $1`,
    [archive],
  )
  return rows
}

function tests(title: string, open: () => Promise<Ground>): void {
  describe(title, () => {
    let ground: Ground
    beforeAll(async () => {
      ground = await open()
    })
    afterAll(() => ground[Symbol.asyncDispose]())

    for (let round = 1; round <= inForm(1, 10); round += 1) {
      test(`whatever is indexed is what the repository has (seed ${SEED}, ${round})`, async () => {
        const roll = dice(SEED * 31 + round)
        const plain = await ground.create()
        await commitRandomly(plain, roll, REVISIONS)
        const repository = await opened(plain)
        const truth = await scanAll(repository)
        const inOrder = await anArchive(engine, repository)
        const inAnyOrder = await anArchive(engine, repository)
        for (let number = 1; number < truth.length; number += 1) {
          if (roll.below(3) > 0) await inOrder.index(number)
          await inAnyOrder.index(1 + roll.below(truth.length - 1))
        }
        for (const archive of [inOrder, inAnyOrder]) {
          for (const { number, file_count } of await indexedNumbers(archive.name)) {
            expect(await archive.files(number), `${archive.name} at ${number}`).toEqual(truth[number])
            expect(file_count).toBe(truth[number]?.length)
          }
        }
        const { rows } = await engine.pool.query('select count(*)::int from millrace.index_staged')
        expect(rows).toEqual([{ count: 0 }])
      })
    }
  })
}

tests('svn', svnFiles)
tests('git', gitFiles)
