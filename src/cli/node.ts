import { type BodyAnswered, findInexact, type routes } from '../api/index.ts'
import type { Server } from './context.ts'
import { exitCodes, UsageError } from './exit.ts'
import type { Style } from './render/style.ts'
import type { Column } from './render/table.ts'
import { ago, duration } from './render/time.ts'

type Nodes = (typeof routes)['nodes']
export type Node = BodyAnswered<Nodes['get']>
export type NodeRow = Node['metadata']
export type NodeState = NodeRow['state']
type Look = {
  readonly glyph: string
  readonly color: 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
  readonly isFinal: boolean
}

const looks = {
  incipient: { glyph: '○', color: 'dim', isFinal: false },
  running: { glyph: '●', color: 'cyan', isFinal: false },
  killing: { glyph: '●', color: 'yellow', isFinal: false },
  finished: { glyph: '✓', color: 'green', isFinal: true },
  failed: { glyph: '✗', color: 'red', isFinal: true },
  killed: { glyph: '⊘', color: 'yellow', isFinal: true },
  skipped: { glyph: '–', color: 'dim', isFinal: true },
} as const satisfies Record<NodeState, Look>

export const nodeStates = Object.keys(looks) as NodeState[]
export const nodeTypes = ['command', 'shell command', 'condition', 'if', 'sleep'] as const satisfies NodeRow['type'][]
export const NODE = 'number of the node'

export const isNodeOver = (state: NodeState): boolean => looks[state].isFinal

export const nodeStateText = (state: NodeState): string => `${looks[state].glyph} ${state}`

export const paintNodeState = (style: Style, state: NodeState, text: string = nodeStateText(state)): string =>
  style[looks[state].color](text)

/** The exit code after waiting for nodes that are in these states. */
export function exitOfNodes(states: readonly NodeState[]): number {
  const bad = states.filter((state) => state !== 'finished' && looks[state].isFinal)
  if (bad.length === 0) return exitCodes.done
  if (bad.length < states.length) return exitCodes.some_failed
  return bad.includes('failed') ? exitCodes.task_failed : exitCodes.task_canceled
}

export function nodeRan({ started_at, finished_at }: NodeRow): string {
  if (started_at === null) return '-'
  return duration((finished_at === null ? Date.now() : Date.parse(finished_at)) - Date.parse(started_at))
}

export function nodeColumns(style: Style): Column<NodeRow>[] {
  return [
    { title: 'id', of: ({ id }) => id, align: 'right' },
    {
      title: 'state',
      of: ({ state }) => nodeStateText(state),
      plain: ({ state }) => state,
      paint: (text, { state }) => paintNodeState(style, state, text),
    },
    { title: 'type', of: ({ type }) => type },
    { title: 'parent', of: ({ parent }) => parent, align: 'right' },
    { title: 'created', of: (node) => ago(node.created_at), plain: (node) => node.created_at },
    { title: 'ran', of: nodeRan, plain: (node) => node.started_at ?? '', align: 'right' },
    { title: 'task', of: ({ task }) => task, align: 'right' },
  ]
}

export type NodeFilter = { readonly type?: string; readonly state?: string; readonly parent?: string }

/** The oldest nodes that the filter lets through, `most` at most, page by page. */
export async function listNodes(
  { client, routes: { nodes } }: Server,
  filter: NodeFilter,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<{ items: NodeRow[]; hasMore: boolean }> {
  const items: NodeRow[] = []
  let place: { start?: string; pid?: string } = {}
  for (;;) {
    const query = { ...filter, ...place, limit: Math.min(1000, most - items.length) }
    const page = await client.call(nodes.list, { query }, { signal })
    // A bare list is the last page; every row has all metadata unless some are chosen.
    const rows = (Array.isArray(page) ? page : page.nodes) as NodeRow[]
    items.push(...rows)
    if (Array.isArray(page)) return { items, hasMore: false }
    if (items.length >= most) return { items, hasMore: true }
    place = { start: page.pagination.next, pid: page.pagination.pid }
  }
}

/** What `--data` takes, for the help. */
export const DATA = `KEY=TEXT, or KEY:=JSON for a value that is not text (timeout=10m, env:='{"CC":"clang"}'); may be given several times`

/** `KEY=TEXT` and `KEY:=JSON` as data of a node. */
export function dataOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const { key, isJson, value } = partsOf(pair)
      const remedy = `write JSON, such as ${key}:='["a", 1]', or ${key}=TEXT for a text`
      return [key, isJson ? parseJson(key, value, remedy) : value]
    }),
  )
}

function partsOf(pair: string): { readonly key: string; readonly isJson: boolean; readonly value: string } {
  const [, key, sign, value = ''] = /^([^=]+?)(:?=)(.*)$/s.exec(pair) ?? []
  if (key === undefined) {
    throw new UsageError(`--data ${pair} has no value`, 'write KEY=TEXT for a text, or KEY:=JSON for any other value')
  }
  return { key, isJson: sign === ':=', value }
}

export function parseJson(key: string, text: string, remedy: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`the value of ${key} is not JSON: ${(error as Error).message}`, remedy)
  }
  const flaw = findInexact(text)
  if (flaw === undefined) return parsed
  throw new UsageError(`the value of ${key} has a number that would be altered: ${flaw.message}`, 'write it as a text')
}

type Refusal = Error & { readonly remedy?: string; readonly problem?: { readonly errors?: readonly Flaw[] } }
type Flaw = { readonly pointer: string }

/** A refusal of a value that `--data` gave, with the other way to write it: text where JSON was given, and JSON for text. */
export function withOtherForm(error: Refusal, pairs: readonly string[]): Error {
  const refused = (error.problem?.errors ?? []).map(({ pointer }) => /\/data\/([^/]+)/.exec(pointer)?.[1])
  const given = pairs.map(partsOf).find(({ key }) => refused.includes(key))
  if (given === undefined || error.remedy !== undefined) return error
  const { key, isJson, value } = given
  const remedy = isJson
    ? `${key}:= gives JSON; write ${key}=TEXT for a text`
    : `${key}=${value} gives a text; write ${key}:=JSON for any other value, such as ${key}:=1 or ${key}:='["a"]'`
  return Object.assign(error, { remedy })
}

/** What a node does, in a line, as far as its data tell. */
export function nodeLabel({ metadata: { type }, data }: Pick<Node, 'metadata' | 'data'>): string {
  const { command, args, file, time, seconds, result } = data
  const words = [command, ...(Array.isArray(args) ? args : []), file, time, seconds].filter((one) => one !== undefined)
  const what = words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' ')
  const ended = typeof result === 'number' && result !== 0 ? `  (exit ${result})` : ''
  return `${type === 'command' || type === 'shell command' ? '' : `${type}: `}${what}${ended}`
}
