import { isStorable } from '../engine/index.ts'
import { changeNode } from './change.ts'
import { raiseVersion, readValue, setValue, spliceText } from './data.sql.ts'
import { InvalidNode, KeyNotFound, PidGone, ValueThere, ValueTooLarge, VersionChanged } from './errors.ts'
import type { NodeId } from './node.ts'
import { lockTree } from './nodes.sql.ts'
import { isResultKey, isSpecKey } from './spec.ts'
import { findAndLock, type Tree, tell } from './tree.ts'
import { type Pagination, readValue as readPiece } from './value.ts'

/** From where on a value is written. */
export type Place =
  | { readonly from: 'whole' }
  /** Only when there is no value yet. */
  | { readonly from: 'unset' }
  /** A text from this byte on, when it still is the one that the pid names. */
  | { readonly from: 'start'; readonly start: number; readonly pid: string }

export type Write = {
  readonly key: string
  readonly value: unknown
  readonly place: Place
  /** The pid of the value that the caller has seen; another is not overwritten. */
  readonly version?: string | undefined
}

const MOST_BYTES = 64 * 1024 * 1024

/**
 * Writes a value and answers where to go on writing. The user's own keys can be written at any time; those that the
 * server gives a meaning to, while the node has not started; what the server writes itself, never.
 */
export async function writeValue(tree: Tree, id: NodeId, write: Write): Promise<Pagination> {
  const { key, value, place } = write
  if (isResultKey(key)) throw new InvalidNode([{ pointer: '/key', message: `${key} is written by the server alone` }])
  const json = JSON.stringify(value)
  if (!isStorable(json) || !isStorable(JSON.stringify(key)))
    throw new InvalidNode([{ pointer: '/value', message: 'contains a character that cannot be stored' }])
  if (isSpecKey(key)) return writeMeant(tree, id, write)

  const { task } = await findAndLock(tree.tx, id)
  const start = String(place.from === 'start' ? place.start : 0)
  const there = await readValue(tree.tx, { node: id, key, start, limit: 1 })
  if (write.version !== undefined && write.version !== there?.version)
    throw new VersionChanged(`"${key}" of node ${id}`, write.version)
  if (place.from === 'unset' && there !== undefined) throw new ValueThere(id, key)
  const size = typeof value === 'string' ? Buffer.byteLength(value) : 0
  const next = place.from === 'start' ? place.start + size : place.from === 'unset' ? 0 : size
  if (Math.max(next, json.length) > MOST_BYTES) throw new ValueTooLarge(key, MOST_BYTES)
  const { version } =
    place.from === 'start'
      ? await splice(tree, id, write, { ...place, there })
      : await setValue(tree.tx, { node: id, key, value: json })
  await raiseVersion(tree.tx, { node: id })
  await tell(tree, 'node.data_changed', { node: id, key }, task)
  return { next: String(next), pid: version }
}

type There = Awaited<ReturnType<typeof readValue>>

function splice(
  tree: Tree,
  node: NodeId,
  { key, value }: Write,
  { start, pid, there }: { start: number; pid: string; there: There },
): Promise<{ version: string }> {
  if (there === undefined) throw new KeyNotFound(node, key)
  if (there.version !== pid) throw new PidGone(`the value of "${key}" was replaced since`)
  const flaw = (message: string) => new InvalidNode([{ pointer: '/start', message }])
  if (!there.is_text || typeof value !== 'string')
    throw flaw('only a text can be written from a place on; this value, or the new one, is none')
  if (start > (there.size ?? 0)) throw flaw(`lies behind the end, which is at ${there.size}`)
  const [byte] = there.piece ?? []
  if (byte !== undefined && (byte & 0xc0) === 0x80) throw flaw('lies inside a character')
  return spliceText(tree.tx, { node, key, start, text: value })
}

/** What the server gives a meaning to is changed as the node itself is. */
async function writeMeant(tree: Tree, id: NodeId, { key, value, place, version }: Write): Promise<Pagination> {
  if (place.from === 'start')
    throw new InvalidNode([{ pointer: '/start', message: `${key} can only be replaced as a whole` }])
  await lockTree(tree.tx, {})
  await findAndLock(tree.tx, id)
  const before = await pidOf(tree, id, key)
  if (version !== undefined && version !== before) throw new VersionChanged(`"${key}" of node ${id}`, version)
  if (place.from === 'unset' && before !== undefined) throw new ValueThere(id, key)
  await changeNode(tree, id, { data: { [key]: value } })
  const size = typeof value === 'string' && place.from === 'whole' ? Buffer.byteLength(value) : 0
  return { next: String(size), pid: (await pidOf(tree, id, key)) ?? '0' }
}

async function pidOf(tree: Tree, id: NodeId, key: string): Promise<string | undefined> {
  try {
    return (await readPiece(tree.tx, id, key, { limit: 4, encoding: 'base64' })).pid
  } catch (error) {
    if (error instanceof KeyNotFound) return undefined
    throw error
  }
}
