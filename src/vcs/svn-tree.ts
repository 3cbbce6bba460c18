import { FileTooLarge, PathNotFound } from './errors.ts'
import { below, decodePath, encodePath, insidePath, joinPath } from './location.ts'
import { type Change, collect, type Entry, type Revision } from './repository.ts'
import type { Session } from './session.ts'
import { decodeValue, kindOf } from './svn-log.ts'
import { readSvn, runSvn } from './svn-tool.ts'
import { OutputTooLarge } from './tool.ts'
import { child, type Element, textOf } from './xml.ts'

/**
 * The target of a command: always with a revision behind the last `@`, so that one in a name means nothing, and encoded,
 * so that nothing else does either.
 */
export function target(base: string, path: string, { number }: Revision): string {
  return `${base}${path === '' ? '' : `/${encodePath(path)}`}@${number}`
}

export async function* listFolder(
  session: Session,
  base: string,
  { path, revision, isRecursive }: { path: string; revision: Revision; isRecursive: boolean },
): AsyncGenerator<Entry, void> {
  const folder = insidePath(path)
  const args = ['list', ...(isRecursive ? ['--recursive'] : []), target(base, folder, revision)]
  try {
    let isFirst = true
    for await (const element of readSvn(session, args, ['entry'])) {
      const entry = readEntry(element, folder)
      // Asked for a file, svn lists the file itself; a folder may hold one file of its own name.
      if (isFirst && entry.kind === 'file' && entry.path === joinPath(folder, folder.split('/').at(-1) ?? '')) {
        if ((await statPath(session, base, { path: folder, revision }))?.kind === 'file') return
      }
      isFirst = false
      yield entry
    }
  } catch (error) {
    if (!(error instanceof PathNotFound)) throw error
  }
}

function readEntry(element: Element, folder: string): Entry {
  return { ...readFacts(element, textOf(element, 'size')), path: joinPath(folder, textOf(element, 'name') ?? '') }
}

export function readFacts(element: Element, size: string | undefined): Omit<Entry, 'path'> {
  const changed = child(element, 'commit')?.attributes['revision']
  return {
    kind: kindOf(element.attributes['kind']),
    ...(size === undefined ? {} : { size: Number(size) }),
    ...(changed === undefined ? {} : { lastChanged: Number(changed) }),
  }
}

type At = { readonly path: string; readonly revision: Revision }

export async function statPath(session: Session, base: string, { path, revision }: At): Promise<Entry | undefined> {
  const inside = insidePath(path)
  try {
    const [element] = await collect(readSvn(session, ['info', target(base, inside, revision)], ['entry']))
    return element && { ...readFacts(element, element.attributes['size']), path: inside }
  } catch (error) {
    if (error instanceof PathNotFound) return undefined
    throw error
  }
}

export async function readFile(
  session: Session,
  base: string,
  { path, revision, maxBytes }: At & { maxBytes: number },
): Promise<Buffer> {
  const inside = insidePath(path)
  try {
    return await runSvn(session, ['svn', 'cat', '--ignore-keywords', target(base, inside, revision)], { maxBytes })
  } catch (error) {
    if (error instanceof OutputTooLarge) throw new FileTooLarge(`${inside} is larger than ${maxBytes} bytes`)
    throw error
  }
}

export async function readProperties(
  session: Session,
  base: string,
  { path, revision }: At,
): Promise<Record<string, string>> {
  const inside = insidePath(path)
  const properties: Record<string, string> = {}
  const args = ['proplist', '--verbose', target(base, inside, revision)]
  for await (const element of readSvn(session, args, ['property'])) {
    properties[element.attributes['name'] ?? ''] = decodeValue(element)
  }
  return properties
}

const ACTIONS: Readonly<Record<string, Change['action']>> = { added: 'A', deleted: 'D', modified: 'M', none: 'M' }

export async function* readDiff(
  session: Session,
  base: string,
  { from, to }: { from: Revision; to: Revision },
): AsyncGenerator<Change, void> {
  if (from.number === to.number) return
  const args = ['diff', '--summarize', `--old=${target(base, '', from)}`, `--new=${target(base, '', to)}`]
  try {
    for await (const { attributes, text } of readSvn(session, args, ['path'])) {
      const path = below(decodePath(base), decodePath(text))
      const action = ACTIONS[attributes['item'] ?? '']
      if (path !== undefined && action) yield { path, action, kind: kindOf(attributes['kind']) }
    }
  } catch (error) {
    // Neither revision has the folder.
    if (!(error instanceof PathNotFound)) throw error
  }
}
