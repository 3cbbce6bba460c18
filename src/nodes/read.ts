import type { Db } from '../db/index.ts'
import { type OutputView, readOutput } from '../storage/index.ts'
import { readData } from './data.sql.ts'
import { isEnded, type Metadata, type NodeId, toMetadata } from './node.ts'
import { attemptOf, hasOutput, resultsOf, streams } from './results.ts'
import { findNode, type NodeRow, versionOf } from './tree.ts'

export type ReadNode = {
  readonly metadata: Metadata
  readonly data: Readonly<Record<string, unknown>>
  /** Keys whose values are left out: too large, or still growing. */
  readonly omitted: readonly string[]
  /** Another one than before when anything that is told has changed. */
  readonly version: string
}

const MOST_BYTES = 16_384

/** The node with its data, but for what is too large to be shown at once. */
export async function readNode(db: Db, id: NodeId): Promise<ReadNode> {
  const row = await findNode(db, id)
  const metadata = toMetadata(row)
  // Without a prototype: a key may be `__proto__`.
  const data: Record<string, unknown> = Object.create(null)
  const omitted: string[] = []
  for (const { key, value, is_large: isLarge } of await readData(db, { node: id, most: MOST_BYTES })) {
    if (isLarge) omitted.push(key)
    else data[key] = value
  }
  Object.assign(data, placeOf(row), resultsOf(row, metadata))
  if (hasOutput(row)) {
    for (const [key, view] of Object.entries(streams)) {
      const text = await readSmall(db, row, view)
      if (text === undefined) omitted.push(key)
      else data[key] = text
    }
  }
  return { metadata, data, omitted, version: versionOf(row) }
}

/** Where and when it runs, as the data tells it: only what was given. */
export function placeOf(row: NodeRow): { run_if?: string; branch?: string } {
  return {
    ...(row.run_if === null ? {} : { run_if: row.run_if }),
    ...(row.branch === null ? {} : { branch: row.branch }),
  }
}

/** Undefined when there is more, or may be. */
async function readSmall(db: Db, row: NodeRow, stream: OutputView): Promise<string | undefined> {
  if (!isEnded(toMetadata(row).state)) return undefined
  const { bytes, isEnd } = await readOutput(db, {
    task: row.task,
    attempt: attemptOf(row),
    stream,
    limit: MOST_BYTES,
  })
  return isEnd ? bytes.toString() : undefined
}
