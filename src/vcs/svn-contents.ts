// Many files with few programs. `svn cat` writes one file after another without a mark between them, so their sizes,
// which are known, say where each ends; what has another length than is known is asked for alone.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './cache.ts'
import { Intake, inChunks, inPieces } from './contents.ts'
import { PathNotFound } from './errors.ts'
import { below, decodePath, insidePath } from './location.ts'
import type { Content, Entry, Revision } from './repository.ts'
import type { Session } from './session.ts'
import { decodeValue } from './svn-log.ts'
import { readSvn, runSvn, streamSvn } from './svn-tool.ts'
import { readFacts, target } from './svn-tree.ts'
import { OutputTooLarge } from './tool.ts'
import { textOf } from './xml.ts'

const FILES = 200 // of one call: what they add to its arguments is far below what a system allows
const TOGETHER_BYTES = 4 * 1024 * 1024 // are kept in memory until their lengths are known to be right
const TARGETS = 5_000

type At = { readonly base: string; readonly revision: Revision }

export async function* findPaths(
  session: Session,
  { base, revision }: At,
  paths: readonly string[],
): AsyncGenerator<Entry, void> {
  for (const piece of inPieces(paths, TARGETS)) {
    await using folder = await temporaryFolder(session.folder)
    const file = join(folder.path, 'targets')
    await writeFile(file, piece.map((path) => `${target(base, insidePath(path), revision)}\n`).join(''))
    try {
      for await (const element of readSvn(session, ['info', '--targets', file], ['entry'])) {
        const path = below(decodePath(base), decodePath(textOf(element, 'url') ?? ''))
        if (path !== undefined) yield { ...readFacts(element, element.attributes['size']), path }
      }
    } catch (error) {
      // Some are missing, and that is an answer too; the rest was told before.
      if (!(error instanceof PathNotFound)) throw error
    }
  }
}

export async function* readContents(
  session: Session,
  at: At & { readonly headBytes: number },
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): AsyncGenerator<Content, void> {
  const longest = (entry: Entry) => Math.max(entry.size ?? 0, 300 * entry.path.length)
  for await (const chunk of inChunks(entries, { count: FILES, weight: TOGETHER_BYTES, weigh: longest })) {
    const properties = await readAllProperties(session, at, chunk)
    const known = chunk.map((entry) => ({ ...entry, properties: properties.get(entry.path) ?? {} }))
    // A style that names the ends of lines may lengthen a file on its way here, the others only shorten it: so among
    // the others the sum is right only when each length is.
    const plain = known.filter(({ size, properties: { 'svn:eol-style': style = 'native' } }) => {
      return style === 'native' && size !== undefined && size <= TOGETHER_BYTES
    })
    const contents = await readTogether(session, at, plain)
    if (contents) yield* contents
    const others = contents ? known.filter((file) => !plain.includes(file)) : known
    for (const file of others) yield await readAlone(session, at, file)
  }
}

type Known = Entry & { readonly properties: Record<string, string> }
type Wanted = At & { readonly headBytes: number }

async function readAllProperties(session: Session, { base, revision }: At, chunk: readonly Entry[]) {
  const all = new Map<string, Record<string, string>>()
  const targets = chunk.map(({ path }) => target(base, path, revision))
  for await (const element of readSvn(session, ['proplist', '--verbose', ...targets], ['target'])) {
    const path = below(decodePath(base), decodePath(element.attributes['path'] ?? ''))
    const named = element.children.map((property) => [property.attributes['name'] ?? '', decodeValue(property)])
    if (path !== undefined) all.set(path, Object.fromEntries(named))
  }
  return all
}

/** The files cut out of one answer; undefined when it is not as long as they are together. */
async function readTogether(
  session: Session,
  { base, revision, headBytes }: Wanted,
  files: readonly Known[],
): Promise<Content[] | undefined> {
  if (files.length === 0) return []
  const size = files.reduce((sum, file) => sum + (file.size ?? 0), 0)
  const bytes = await catFiles(
    session,
    files.map(({ path }) => target(base, path, revision)),
    size,
  )
  if (bytes?.length !== size) return undefined
  let from = 0
  return files.map((file) => {
    const intake = new Intake(headBytes)
    intake.add(bytes.subarray(from, from + (file.size ?? 0)))
    from += file.size ?? 0
    return toContent(file, intake)
  })
}

async function catFiles(session: Session, targets: readonly string[], maxBytes: number): Promise<Buffer | undefined> {
  try {
    return await runSvn(session, ['svn', 'cat', '--ignore-keywords', ...targets], { maxBytes })
  } catch (error) {
    if (error instanceof OutputTooLarge) return undefined
    throw error
  }
}

async function readAlone(session: Session, { base, revision, headBytes }: Wanted, file: Known): Promise<Content> {
  const intake = new Intake(headBytes)
  const args = ['cat', '--ignore-keywords', target(base, file.path, revision)]
  for await (const piece of streamSvn(session, args)) intake.add(piece)
  return toContent(file, intake)
}

function toContent({ path, kind, lastChanged, properties }: Known, intake: Intake): Content {
  return { path, kind, properties, ...(lastChanged === undefined ? {} : { lastChanged }), ...intake.end() }
}
