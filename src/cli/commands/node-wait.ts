import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { exitCodes, TimedOut } from '../exit.ts'
import { mapAtOnce } from '../map-at-once.ts'
import { exitOfNodes, isNodeOver, NODE, type NodeState, nodeStates, nodeStateText, paintNodeState } from '../node.ts'
import { aDuration } from '../numbers.ts'
import { openAgain } from '../open-again.ts'
import { count } from '../render/text.ts'
import { duration } from '../render/time.ts'
import { createWaitingLine } from '../waiting-line.ts'
import { withTimeout } from '../with-timeout.ts'

type Options = { readonly for?: NodeState; readonly timeout?: number }
const late = ({ for: state, timeout = 0 }: Options, open: readonly string[]) =>
  new TimedOut(
    `after ${duration(timeout)} not all ${state === undefined ? 'have ended' : `are ${state}`}: ${open.join(', ')}`,
  )

/**
 * The nodes when the time is over, for what was last heard of them may be old, or nothing. Throws `TimedOut` with those
 * that are still waited for; answers when there are none any more.
 */
async function lookOnceMore(context: Context, ids: readonly string[], options: Options): Promise<Waited[]> {
  const { client, routes } = await context.server()
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(LAST_LOOK_MS)])
  const look = async (id: string) => {
    const { metadata } = await client.call(routes.nodes.get, { params: { id } }, { signal })
    return { id, state: metadata.state }
  }
  const found = await mapAtOnce(ids, 8, look).catch(() => {
    throw late(
      options,
      ids.map((id) => `node ${id}`),
    )
  })
  const open = found.filter(({ state }) => !isNodeOver(state) && state !== options.for)
  if (open.length === 0) return found
  throw late(
    options,
    open.map(({ id, state }) => `node ${id} is ${state}`),
  )
}

type Waited = { readonly id: string; readonly state: NodeState }

const LAST_LOOK_MS = 5000 // a server that is away must not make the time much longer
const HELD_SECONDS = 30 // that the server holds one request: a proxy in between may cut off longer ones

/** Waits for nodes; the exit code says how they ended. */
export const nodeWait: CommandFile = {
  usage: 'ID... [--for STATE] [--timeout DURATION]',
  examples: ['millrace node wait 12 13 --timeout 10m', 'millrace node wait 12 --for running'],
  prints: 'list',
  define(command) {
    command
      .argument('<node...>', NODE)
      .addOption(
        new Option('--for <state>', 'wait for this state (default: until they have ended)').choices(nodeStates),
      )
      .option('--timeout <duration>', 'wait at most this long: 90s, 10m, 2h', aDuration)
  },
  async run(context, ids, options: Options) {
    const { output } = context
    const { client, routes } = await context.server()
    const line = createWaitingLine(context)
    let seen: readonly Waited[] = []
    using limited = withTimeout(context.signal, options.timeout, () => late(options, ids))
    const body = { ids: [...ids], ...(options.for === undefined ? {} : { state: options.for }) }
    await openAgain({ output, signal: limited.signal }, async (signal, onOpen) => {
      for (;;) {
        line.say(count(ids.length, 'node'))
        const headers = { prefer: `wait=${HELD_SECONDS}` }
        const answer = await client.open(routes.scheduler.waitForMany, { body }, { signal, headers })
        const { nodes } = (await answer.json()) as { nodes: Waited[] }
        seen = nodes
        onOpen()
        if (answer.status === 200) return
      }
    })
      .catch(async (error: unknown) => {
        if (!(error instanceof TimedOut)) throw error
        seen = await lookOnceMore(context, ids, options)
      })
      .finally(() => line.clear())
    await output.list(
      seen,
      [
        { title: 'id', of: ({ id }) => id, align: 'right' },
        {
          title: 'state',
          of: ({ state }) => nodeStateText(state),
          plain: ({ state }) => state,
          paint: (text, { state }) => paintNodeState(output.style, state, text),
        },
      ],
      { id: ({ id }) => id, none: '' },
    )
    // One that was waited for in a state and has not ended is there.
    const states = seen.map(({ state }) => state)
    return options.for === undefined || states.some((state) => isNodeOver(state)) ? exitOfNodes(states) : exitCodes.done
  },
}
