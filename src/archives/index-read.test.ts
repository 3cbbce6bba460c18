import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anArchive, type IndexedArchive } from '../../test/archive-index.ts'
import { useEngine } from '../../test/engine.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import { folder, type Ground } from '../../test/repositories/ground.ts'
import { opened, write } from '../../test/repositories/kit.ts'
import { openRepository } from '../vcs/index.ts'
import { type IndexQuery, readIndex } from './index-read.ts'

const engine = useEngine()
let ground: Ground
let archive: IndexedArchive

const FILES = {
  'a-b/file': 'between\n',
  'a/b/c': 'deep words\n',
  'a/b/d': 'other words\n',
  'a/x': 'x\n',
  'a0/file': 'in a folder whose name ends with a digit\n',
  'docs/Chapter One.md': `first line\n${'long '.repeat(100)}Wasserrad ${'after '.repeat(100)}\n`,
  'docs/line\nfeed %@': 'odd\n',
  'docs/ünïcode/größe.txt': 'STRASSE und Straße, e\u0301t\u00e9\n',
}

beforeAll(async () => {
  ground = await gitFiles()
  const plain = await ground.create()
  await plain.commit(async (folder) => {
    for (const [path, text] of Object.entries(FILES)) await write(join(folder, path), text)
  }, 'files')
  await plain.commit((folder) => write(join(folder, 'later/file'), 'words of later\n'), 'later')
  const place = await folder()
  archive = await anArchive(engine, openRepository({ ...plain.options, cacheDir: place.path }))
  await archive.index(1)
  await archive.index(2)
})
afterAll(() => ground[Symbol.asyncDispose]())

const read = (query: Partial<IndexQuery>) =>
  readIndex(engine.pool, { archive: archive.name, rev: '1', limit: 100, ...query })

const shown = async (query: Partial<IndexQuery>) => {
  const { items } = await read(query)
  return items.map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path))
}

/** The same list in pages of one. */
async function oneByOne(query: Partial<IndexQuery>): Promise<string[]> {
  const all: string[] = []
  for (let start: string | undefined; ; ) {
    const { items } = await read({ ...query, start, limit: 1 })
    const [item] = items
    if (item === undefined) return all
    all.push(item.kind === 'folder' ? `${item.path}/` : item.path)
    start = item.next
  }
}

describe('a folder', () => {
  test('shows what lies in it, folders once, in the order of their bytes', async () => {
    expect(await shown({})).toEqual(['a-b/', 'a/', 'a0/', 'docs/'])
    expect(await shown({ path: 'a' })).toEqual(['a/b/', 'a/x'])
    expect(await shown({ path: '/docs/' })).toEqual(['docs/Chapter One.md', 'docs/line\nfeed %@', 'docs/ünïcode/'])
  })

  test('shows all that is below it, and nothing beside it', async () => {
    expect(await shown({ path: 'a', isRecursive: true })).toEqual(['a/b/c', 'a/b/d', 'a/x'])
    expect(await shown({ isRecursive: true, rev: '2' })).toHaveLength(9)
  })

  test('is the same in pages', async () => {
    for (const query of [{}, { path: 'a' }, { isRecursive: true }, { q: 'words' }, { path: 'docs' }]) {
      expect(await oneByOne(query)).toEqual(await shown(query))
    }
  })

  test('or a file that is not there is refused', async () => {
    await expect(read({ path: 'nowhere' })).rejects.toMatchObject({ code: 'path_not_indexed' })
    await expect(read({ path: 'later' })).rejects.toMatchObject({ code: 'path_not_indexed' })
    expect(await shown({ path: 'later', rev: '2' })).toEqual(['later/file'])
  })
})

test('a file is shown with all that is known of it', async () => {
  const { rev, files, items } = await read({ path: 'a/x' })
  expect(rev.number).toBe(1)
  expect(files).toBe(8)
  expect(items).toMatchObject([
    { path: 'a/x', kind: 'file', size: 2, lastChanged: 1, properties: { mode: '100644' }, snippet: null },
  ])
  expect(items[0]?.digest).toBe('73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac')
})

describe('a search', () => {
  test('finds words in paths and in texts, at that revision', async () => {
    expect(await shown({ q: 'words' })).toEqual(['a/b/c', 'a/b/d'])
    expect(await shown({ q: 'words', rev: '2' })).toEqual(['a/b/c', 'a/b/d', 'later/file'])
    expect(await shown({ q: 'chapter one md' })).toEqual(['docs/Chapter One.md'])
    expect(await shown({ q: 'words nowhere' })).toEqual([])
  })

  test('finds beginnings of words where a star says so', async () => {
    expect(await shown({ q: 'wasser' })).toEqual([])
    expect(await shown({ q: 'Wasser*' })).toEqual(['docs/Chapter One.md'])
  })

  test('does not mind how letters are written', async () => {
    expect(await shown({ q: 'GRÖSSE' })).toEqual([])
    expect(await shown({ q: 'GRÖßE' })).toEqual(['docs/ünïcode/größe.txt'])
    expect(await shown({ q: 'été strasse' })).toEqual(['docs/ünïcode/größe.txt'])
  })

  test('stays within a folder or a file', async () => {
    expect(await shown({ q: 'words', path: 'a/b' })).toEqual(['a/b/c', 'a/b/d'])
    expect(await shown({ q: 'words', path: 'a/b/c' })).toEqual(['a/b/c'])
    expect(await shown({ q: 'words', path: 'docs' })).toEqual([])
  })

  test('shows the line, and of a long one the part around the word', async () => {
    const { items } = await read({ q: 'wasserrad' })
    const snippet = items[0]?.snippet
    expect(snippet?.line).toBe(2)
    expect(snippet?.text).toContain('Wasserrad')
    expect(snippet?.text.length).toBeLessThanOrEqual(200)
    expect((await read({ q: 'chapter' })).items[0]?.snippet).toBeNull()
  })

  test('without words, or with too many, is refused', async () => {
    for (const q of ['', '  ', "& | ! :* '", Array.from({ length: 17 }, (_, i) => `w${i}`).join(' ')]) {
      await expect(read({ q })).rejects.toMatchObject({ code: 'invalid_query' })
    }
    expect(await shown({ q: "words & ! | ( ' \\" })).toEqual(['a/b/c', 'a/b/d'])
  })
})

describe('a revision', () => {
  test('is the youngest that is indexed unless another is named, by number or commit', async () => {
    const { rev } = await read({ rev: undefined })
    expect(rev.number).toBe(2)
    expect((await read({ rev: rev.id })).rev).toEqual(rev)
  })

  test('that is not indexed is refused, and the nearest that are are named', async () => {
    const refused = { code: 'revision_not_indexed', remedy: 'the nearest that is: 2', before: 2 }
    await expect(read({ rev: '7' })).rejects.toMatchObject(refused)
    await expect(read({ rev: '0' })).rejects.toMatchObject({ remedy: 'the nearest that is: 1', after: 1 })
    await expect(read({ rev: 'f'.repeat(40) })).rejects.toMatchObject({ code: 'revision_not_indexed', before: 2 })
  })

  test('of an archive without an index, or of none, is refused', async () => {
    const plain = await ground.create()
    const { name } = await anArchive(engine, await opened(plain))
    await expect(read({ archive: name })).rejects.toMatchObject({ code: 'archive_not_indexed' })
    await expect(read({ archive: name, rev: undefined })).rejects.toMatchObject({ code: 'archive_not_indexed' })
    await expect(read({ archive: 'nowhere' })).rejects.toMatchObject({ code: 'archive_not_found' })
  })
})
