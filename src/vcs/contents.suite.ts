import { createHash, randomBytes } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Ground } from '../../test/repositories/ground.ts'
import { opened, write } from '../../test/repositories/kit.ts'
import { collect, type Repository, type Revision } from './index.ts'

const NAMES = [
  'a',
  'empty',
  'deep/er/ file@2',
  'ü%20#?',
  'binary',
  '@',
  "it's",
  '-x',
  'program',
  'large',
  'end\r\nof line',
]

async function filled(ground: Ground) {
  const plain = await ground.create()
  const names = plain.options.type === 'git' ? [...NAMES, 'line\nfeed'] : NAMES.filter((name) => !/[\r\n]/.test(name))
  await plain.commit(async (folder) => {
    for (const name of names) await write(join(folder, name), `content of ${name}\n`)
    await write(join(folder, 'empty'), '')
    await write(join(folder, 'binary'), randomBytes(3000))
    await write(join(folder, 'large'), Buffer.alloc(5 * 1024 * 1024, 'not a small file\n'))
    await chmod(join(folder, 'program'), 0o755)
  }, 'files')
  const repository = await opened(plain)
  return { plain, names, repository, revision: await repository.youngest() }
}

/** What one question for each file answers. */
async function readEach(repository: Repository, names: readonly string[], revision: Revision) {
  const known = names.map(async (path) => {
    const bytes = await repository.read(path, revision)
    const digest = createHash('sha256').update(bytes).digest('hex')
    const properties = await repository.properties(path, revision)
    return { path, size: bytes.length, digest, head: bytes.subarray(0, 10).toString('hex'), properties }
  })
  return byPath(await Promise.all(known))
}

async function readAtOnce(repository: Repository, names: readonly string[] | undefined, revision: Revision) {
  const entries = names ? repository.find(names, revision) : repository.list('', revision, { recursive: true })
  const contents = await collect(repository.contents(entries, revision, { headBytes: 10 }))
  return byPath(
    contents.map(({ path, size, digest, head, properties }) => {
      return { path, size, digest: digest?.toString('hex'), head: head.toString('hex'), properties }
    }),
  )
}

const byPath = <T extends { path: string }>(all: T[]) => all.sort((a, b) => (a.path < b.path ? -1 : 1))

export function contentsTests(ground: () => Ground): void {
  describe('contents', () => {
    test('of many files are those of each', async () => {
      const { repository, names, revision } = await filled(ground())
      const each = await readEach(repository, names, revision)
      expect(await readAtOnce(repository, undefined, revision)).toEqual(each)
      expect(await readAtOnce(repository, names, revision)).toEqual(each)
      expect(await readAtOnce(repository, [], revision)).toEqual([])
    })

    test('are found where something lies, and nowhere else', async () => {
      const { repository, revision } = await filled(ground())
      const wanted = ['a', 'nowhere', 'a/below', 'deep', 'deep/er/ file@2', 'nowhere/below']
      const found = await collect(repository.find(wanted, revision))
      const files = found.filter(({ kind }) => kind === 'file').map(({ path, size }) => `${path} ${size}`)
      expect(files.sort()).toEqual(['a 13', 'deep/er/ file@2 27'])
      const other = await repository.revision(0)
      expect(await collect(repository.find(['a'], other))).toEqual([])
    })

    test('of part of a repository are named from its top', async () => {
      const { plain, revision } = await filled(ground())
      const part = await opened(plain, { path: 'deep' })
      const contents = await collect(part.contents(part.find(['er/ file@2'], revision), revision))
      expect(contents.map(({ path, size, head }) => [path, size, head.length])).toEqual([['er/ file@2', 27, 0]])
    })

    test('end with a signal and leave no program', async () => {
      const { repository, revision } = await filled(ground())
      const stop = new AbortController()
      const told = repository.withSignal(stop.signal)
      const read = async () => {
        const listed = await collect(repository.list('', revision, { recursive: true }))
        for await (const _ of told.contents(listed, revision)) stop.abort(new Error('enough'))
      }
      await expect(read()).rejects.toThrow('enough')
    })
  })
}
