import type { Db } from '../db/index.ts'
import type { Metadata, NodeId } from './node.ts'
import type { Failure, Results } from './results.ts'
import { describeNodes as readDescriptions } from './tree-view.sql.ts'

export type Description = {
  /** What it does, in a line. */
  readonly summary: string
  /** The exit code; null: none yet, or none at all. */
  readonly result: number | null
  /** How many are right below it; `MOST_CHILDREN` stands for that many or more. */
  readonly children: number
}

const MOST_CHILDREN = 1000
const MOST_LETTERS = 200

/** What a list tells of nodes beside their metadata. One that is gone meanwhile has no entry. */
export async function describeNodes(db: Db, nodes: readonly Metadata[]): Promise<ReadonlyMap<NodeId, Description>> {
  const types = new Map(nodes.map(({ id, type }) => [id, type]))
  const rows = await readDescriptions(db, { ids: [...types.keys()], most_children: MOST_CHILDREN })
  return new Map(
    rows.map(({ id, data, output, error, children }) => {
      const { result = null } = ((error as { data?: Failure } | null)?.data ?? output ?? {}) as Results
      const summary = summaryOf(types.get(id), (data ?? {}) as Meant)
      return [id, { summary, result, children }] as const
    }),
  )
}

type Meant = {
  readonly command?: unknown
  /** Null: too long to be told. */
  readonly args?: unknown
  readonly file?: unknown
  readonly time?: unknown
  readonly seconds?: unknown
}

function summaryOf(type: Metadata['type'] | undefined, data: Meant): string {
  const { command, args = [], file, time, seconds } = data
  if (command !== undefined) {
    const words = Array.isArray(args) ? args.map(quote) : ['…']
    const program = type === 'shell command' ? String(command) : quote(command)
    return cut([program, ...words].join(' '))
  }
  if (file !== undefined) return cut(`until ${String(file)} exists`)
  if (time !== undefined) return cut(`until ${String(time)}`)
  return seconds === undefined ? '' : cut(`for ${String(seconds)} s`)
}

/** As it would be typed: in quotes where its words would fall apart. */
function quote(word: unknown): string {
  const text = String(word)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const letters = [...line.slice(0, 2 * MOST_LETTERS)]
  return letters.length <= MOST_LETTERS && line.length <= 2 * MOST_LETTERS
    ? line
    : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`
}
