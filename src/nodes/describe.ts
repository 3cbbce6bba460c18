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

/** As the types of nodes have them; `args` is null where they are too long to be told. */
type Meant = {
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly file?: string
  readonly time?: string
  readonly seconds?: number | string
}

function summaryOf(type: Metadata['type'] | undefined, { command, args = [], file, time, seconds }: Meant): string {
  if (command !== undefined) {
    const words = args === null ? ['…'] : args.map(quote)
    return cut([type === 'shell command' ? command : quote(command), ...words].join(' '))
  }
  if (file !== undefined) return cut(`until ${file} exists`)
  if (time !== undefined) return cut(`until ${time}`)
  return seconds === undefined ? '' : cut(`for ${seconds} s`)
}

/** As it would be typed: in quotes where its words would fall apart. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= MOST_LETTERS) return line
  const begin = line.slice(0, MOST_LETTERS - 1)
  // A character of two halves is not cut through.
  return `${/[\ud800-\udbff]$/.test(begin) ? begin.slice(0, -1) : begin}…`
}
