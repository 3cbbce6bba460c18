import type { Pool } from '../db/index.ts'
import { ArchiveNotFound } from './errors.ts'
import { findArchive } from './index-build.sql.ts'
import { ArchiveNotIndexed, InvalidSearch, PathNotIndexed, RevisionNotIndexed } from './index-errors.ts'
import {
  findIndexed,
  findNearest,
  listChildren,
  listFiles,
  readFile,
  readText,
  searchFiles,
} from './index-reads.sql.ts'
import { type Snippet, snippetOf } from './index-snippet.ts'
import { folded, wordsOf } from './index-words.ts'
import type { RevisionRef } from './payload.ts'

const WORDS = 16 // of one search
const LAST = '\u{10ffff}'.repeat(8) // behind every path

export type IndexQuery = {
  readonly archive: string
  /** A number or the id of a commit; without it, the youngest that is indexed. */
  readonly rev?: string | undefined
  /** A file or a folder; without it, the top. */
  readonly path?: string | undefined
  /** Words: all must be in the path of a file, or all in its text. One that ends with `*` is the beginning of a word. */
  readonly q?: string | undefined
  /** All files below the folder instead of what lies in it. */
  readonly isRecursive?: boolean | undefined
  /** Where the list goes on: `next` of an item. */
  readonly start?: string | undefined
  readonly limit: number
}

export type IndexedItem = {
  readonly path: string
  readonly kind: 'file' | 'link' | 'submodule' | 'folder'
  readonly size: number | null
  readonly digest: string | null
  /** The revision that changed it last; null for a folder. */
  readonly lastChanged: number | null
  readonly properties: Readonly<Record<string, string>> | null
  readonly snippet: Snippet | null
  /** The start of the list behind this item. */
  readonly next: string
}

export type IndexPage = { readonly rev: RevisionRef; readonly files: number; readonly items: readonly IndexedItem[] }

/**
 * What the index says about a revision: a file, what lies in a folder, all below it, or what was searched. Throws
 * `ArchiveNotIndexed`, `RevisionNotIndexed`, `PathNotIndexed` and `InvalidSearch`.
 */
export async function readIndex(pool: Pool, query: IndexQuery): Promise<IndexPage> {
  const archive = await findArchive(pool, { name: query.archive })
  if (archive === undefined) throw new ArchiveNotFound(query.archive)
  const { number, id, file_count } = await resolve(pool, archive.id, query)
  const at = { archive: archive.id, number }
  const page = { rev: { number: Number(number), id }, files: Number(file_count) }
  const path = (query.path ?? '').replace(/^\/+|\/+$/g, '')
  const file = path === '' ? undefined : await readFile(pool, { ...at, path })
  if (file && query.q === undefined) return { ...page, items: query.start === undefined ? [toItem(file)] : [] }
  const prefix = path === '' ? '' : `${path}/`
  const range = {
    ...at,
    start: query.start ?? (file ? path : prefix),
    // A digit follows the slash: behind it nothing lies in the folder any more.
    end: path === '' ? LAST : file ? `${path}\u0001` : `${path}0`,
    limit: query.limit,
  }
  if (query.q !== undefined) return { ...page, items: await search(pool, range, query.q) }
  const rows = query.isRecursive ? await listFiles(pool, range) : await listChildren(pool, { ...range, prefix })
  if (rows.length === 0 && path !== '' && query.start === undefined) {
    throw new PathNotIndexed(query.archive, path, page.rev.number)
  }
  return { ...page, items: rows.map(toItem).sort(byPosition) }
}

async function resolve(pool: Pool, archive: string, { archive: name, rev }: IndexQuery) {
  const isNumber = rev !== undefined && /^\d{1,15}$/.test(rev)
  const number = isNumber ? rev : null
  const found = await findIndexed(pool, { archive, number, id: isNumber ? null : (rev ?? null) })
  if (found) return found
  const { before, after } = await findNearest(pool, { archive, number })
  if (rev === undefined || (before === null && after === null)) throw new ArchiveNotIndexed(name)
  throw new RevisionNotIndexed(name, rev, {
    ...(before === null ? {} : { before: Number(before) }),
    ...(after === null ? {} : { after: Number(after) }),
  })
}

type Row = Awaited<ReturnType<typeof listFiles>>[number]

function toItem({ path, kind, size, digest, changed_number, properties }: Row): IndexedItem {
  return {
    path,
    kind: kind as IndexedItem['kind'],
    size: size === null ? null : Number(size),
    digest: digest?.toString('hex') ?? null,
    lastChanged: changed_number === null ? null : Number(changed_number),
    properties: properties as IndexedItem['properties'],
    snippet: null,
    next: kind === 'folder' ? `${path}0` : `${path}\u0001`,
  }
}

/** As the bytes of their paths are ordered, with the slash that a folder has behind its name. */
function byPosition(a: IndexedItem, b: IndexedItem): number {
  return Buffer.compare(Buffer.from(positionOf(a)), Buffer.from(positionOf(b)))
}

const positionOf = ({ path, kind }: IndexedItem) => (kind === 'folder' ? `${path}/` : path)

async function search(pool: Pool, range: Parameters<typeof listFiles>[1], q: string): Promise<IndexedItem[]> {
  const words = toWords(q)
  const rows = await searchFiles(pool, { ...range, words: toQuery(words) })
  const items: IndexedItem[] = []
  // One after another: a text may have hundreds of kilobytes, a page hundreds of files.
  for (const row of rows) {
    const written = row.digest === null ? undefined : await readText(pool, { digest: row.digest })
    items.push({ ...toItem(row), snippet: written ? snippetOf(written.text, words) : null })
  }
  return items
}

/** What is searched for: words, and beginnings of words with a `*` behind them. */
function toWords(q: string): Set<string> {
  const words = new Set<string>()
  for (const part of folded(q).split(/\s+/)) {
    const found = [...wordsOf(part)]
    const isOpen = part.endsWith('*')
    for (const [i, word] of found.entries()) words.add(isOpen && i === found.length - 1 ? `${word}*` : word)
  }
  if (words.size === 0) throw new InvalidSearch('the search has no words')
  if (words.size > WORDS) throw new InvalidSearch(`the search has ${words.size} words; ${WORDS} are allowed`)
  return words
}

/** As the database reads it. Words have nothing but letters and digits, so nothing in them means anything there. */
const toQuery = (words: ReadonlySet<string>) =>
  [...words].map((word) => (word.endsWith('*') ? `'${word.slice(0, -1)}':*` : `'${word}'`)).join(' & ')
