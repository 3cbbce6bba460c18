import { setTimeout as sleep } from 'node:timers/promises'
import type { Asked, BodyAnswered, routes } from '../../api/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { UsageError } from '../exit.ts'
import { isNodeOver, NODE, type Node, nodeLabel, nodeRan, paintNodeState } from '../node.ts'
import type { Output } from '../output.ts'
import { clean, cleanLines } from '../render/text.ts'
import { ago } from '../render/time.ts'

const LOOK_MS = 500

/** Prints a node with its data, or one value as it is: output of any size, and with -f output that still grows. */
export const nodeGet: CommandFile = {
  usage: 'ID [KEY] [-f]',
  examples: ['millrace node get 12 --json', 'millrace node get 12 mixedout --follow'],
  prints: 'one',
  define(command) {
    command
      .argument('<node>', NODE)
      .argument('[key]', 'print this value alone: result, stdout, stderr, mixedout, command, or your own')
      .option('-f, --follow', 'follow the value until it no longer grows')
  },
  async run(context, [id = '', key], { follow }: { follow?: boolean }) {
    const { output, signal } = context
    const server = await context.server()
    if (key === undefined) {
      if (follow) throw new UsageError('a whole node cannot be followed', 'name a key, such as mixedout')
      const node = await server.client.call(server.routes.nodes.get, { params: { id } }, { signal })
      return output.one(node, () => describeNode(node, output))
    }
    return printValue(context, server, { id, key }, follow ?? false)
  },
}

type Which = { readonly id: string; readonly key: string }

/** A text comes in pieces, as bytes: they are printed as they were written. Anything else is printed as JSON. */
async function printValue(context: Context, server: Server, params: Which, follow: boolean): Promise<void> {
  const { output, signal } = context
  const whole: Uint8Array[] = []
  const write = async (bytes: Uint8Array) =>
    void (output.format === 'text' ? await output.write(bytes) : whole.push(bytes))
  let place: { start?: string; pid?: string } = {}
  for (;;) {
    const query = { ...place, encoding: 'base64' as const, limit: 1_048_576 }
    const piece = await readPiece(server, { params, query }, { signal, follow })
    if (piece !== undefined) {
      const { data, pagination } = piece
      if (typeof data !== 'string') return output.one({ key: params.key, value: data }, () => [JSON.stringify(data)])
      const bytes = Buffer.from(data, 'base64')
      await write(bytes)
      const isOver = pagination === undefined || (bytes.length === 0 && !follow)
      if (isOver && output.format === 'text') return
      if (isOver) return output.one({ key: params.key, value: Buffer.concat(whole).toString() }, () => [])
      place = { start: pagination.next, pid: pagination.pid }
      if (bytes.length > 0) continue
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

type Piece = BodyAnswered<(typeof routes)['nodes']['read']>
type Asking = Asked<(typeof routes)['nodes']['read']>

/** Undefined: there is nothing yet, and whoever follows waits for it. */
async function readPiece(
  { client, routes: { nodes } }: Server,
  asked: Asking,
  { signal, follow }: { signal: AbortSignal; follow: boolean },
): Promise<Piece | undefined> {
  try {
    return await client.call(nodes.read, asked, { signal })
  } catch (error) {
    const isEarly = follow && (error as { code?: string }).code === 'key_not_found'
    if (!isEarly) throw error
    const { metadata } = await client.call(nodes.get, { params: { id: asked.params.id } }, { signal })
    if (isNodeOver(metadata.state)) throw error
    return undefined
  }
}

function describeNode({ metadata, data, omitted }: Node, { style }: Output): string[] {
  const { id, type, parent, state, run_if, branch, created_at, task } = metadata
  const pairs: [string, string | null][] = [
    ['type', type],
    ['parent', parent],
    ['runs if', run_if === 'success' ? null : run_if],
    ['branch', branch],
    ['created', ago(created_at)],
    ['ran', metadata.started_at === null ? null : nodeRan(metadata)],
    ['task', task],
  ]
  const values = Object.entries(data).flatMap(([key, value]) => {
    const [first = '', ...rest] = cleanLines(typeof value === 'string' ? value.trimEnd() : JSON.stringify(value))
    return [`  ${style.dim(clean(key).padEnd(9))} ${first}`, ...rest.map((line) => `  ${' '.repeat(9)} ${line}`)]
  })
  return [
    `${style.bold(`node ${id}`)}  ${paintNodeState(style, state)}  ${clean(nodeLabel({ metadata, data }))}`,
    ...pairs.flatMap(([name, value]) => (value === null ? [] : [`  ${style.dim(name.padEnd(9))} ${clean(value)}`])),
    ...(values.length === 0 ? [] : ['data', ...values]),
    ...(omitted ?? []).map(
      (key) => `  ${style.dim(clean(key).padEnd(9))} (too large: \`millrace node get ${id} ${clean(key)}\`)`,
    ),
  ]
}
