import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { positiveInteger } from '../numbers.ts'
import { openAgain, StreamEnded } from '../open-again.ts'
import { openPager, type Pager } from '../pager.ts'
import { clean } from '../render/text.ts'
import { ID, refOf } from '../task.ts'

type Options = {
  readonly follow?: boolean
  readonly pager: boolean
  readonly attempt?: number
  readonly stream: 'mixed' | 'stdout' | 'stderr'
}

/** Prints what a task wrote, as it was written, and with -f what it still writes. */
export const logs: CommandFile = {
  usage: 'ID [-f] [--attempt NUMBER] [--stream STREAM] [--no-pager]',
  examples: ['millrace logs 118 --follow', 'millrace logs My-Project@12:index --attempt 1 --stream stderr'],
  prints: 'stream',
  define(command) {
    command
      .argument('<id>', ID)
      .option('-f, --follow', 'follow the output until the attempt has ended')
      .option('--attempt <number>', 'print the output of this attempt (default: the last)', positiveInteger)
      .option('--no-pager', 'do not use a pager (MILLRACE_PAGER, PAGER or less)')
      .addOption(
        new Option('--stream <stream>', 'print this stream').choices(['mixed', 'stdout', 'stderr']).default('mixed'),
      )
  },
  async run(context, [id = ''], options: Options) {
    const server = await context.server()
    const asked: Asked = {
      id: refOf(id, server.connection.url),
      stream: options.stream,
      ...(options.attempt === undefined ? {} : { attempt: options.attempt }),
    }
    if (options.follow) return follow(context, server, asked, writer(context, asked))
    const pager = options.pager ? await openPager(context) : undefined
    const isShown = pager !== undefined && (await page(context, server, asked, pager))
    if (!isShown) await print(context, server, asked, writer(context, asked))
  },
}

async function page(context: Context, server: Server, asked: Asked, pager: Pager): Promise<boolean> {
  try {
    await print(context, server, asked, (bytes) => pager.write(bytes))
  } catch (error) {
    await pager.end()
    throw error
  }
  return pager.end()
}

type Asked = { readonly id: string; readonly stream: Options['stream']; readonly attempt?: number }
/** False: whoever reads has seen enough. */
type Write = (bytes: Uint8Array) => Promise<boolean> | Promise<void>

/** The bytes as they are; as JSON they are pieces of text, none of which ends within a letter. */
function writer({ output }: Context, { id, stream }: Asked): Write {
  if (output.format === 'text') return (bytes) => output.write(bytes)
  const decoder = new TextDecoder()
  return async (bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') output.item({ id, stream, text }, () => text)
  }
}

/** Part by part, so that a log of any size passes through. All parts are of one attempt, whatever begins meanwhile. */
async function print(context: Context, server: Server, { id, ...given }: Asked, write: Write): Promise<void> {
  const { client, routes } = server
  const { signal } = context
  let { attempt } = given
  for (let start = 0; ; ) {
    const query = { ...given, start, ...(attempt === undefined ? {} : { attempt }) }
    const answer = await client.open(routes.tasks.log, { params: { id }, query }, { signal })
    attempt = Number(answer.headers.get('x-attempt')) || undefined
    let length = 0
    for await (const bytes of answer.body ?? []) {
      length += bytes.length
      if ((await write(bytes)) === false) return
    }
    if (attempt === undefined) await noteMilestone(context, server, id)
    if (length === 0) return
    start += length
  }
}

/** Says of a task that never begins because there is nothing to run that this is why nothing is printed. */
async function noteMilestone({ output, signal }: Context, { client, routes }: Server, id: string): Promise<void> {
  const { kind } = await client.call(routes.tasks.get, { params: { id } }, { signal })
  if (kind === null) output.note(`${clean(id)} is a milestone: it runs nothing and has no output`)
}

/** A connection that breaks is made again where it broke off: no byte is lost or printed twice. */
async function follow(context: Context, server: Server, { id, ...given }: Asked, write: Write): Promise<void> {
  const { client, routes } = server
  let start = 0
  // The last attempt may be another one by the time that the connection is made again.
  let { attempt } = given
  const queryFrom = () => ({ ...given, start, ...(attempt === undefined ? {} : { attempt }) })
  const pass = async (answer: Response) => {
    for await (const bytes of answer.body ?? []) {
      start += bytes.length
      await write(bytes)
    }
  }
  await openAgain(context, async (signal, onOpen) => {
    const query = { ...queryFrom(), follow: '1' as const }
    const answer = await client.open(routes.tasks.log, { params: { id }, query }, { signal })
    onOpen()
    attempt = Number(answer.headers.get('x-attempt')) || undefined
    await pass(answer)
    // It ended without ever having begun.
    if (attempt === undefined) return noteMilestone(context, server, id)
    // A server that stops ends the stream as one that has sent everything does.
    const rest = await client.open(routes.tasks.log, { params: { id }, query: queryFrom() }, { signal })
    const isComplete = rest.headers.get('x-complete') === 'true'
    await pass(rest)
    if (!isComplete) throw new StreamEnded('the server ended the stream')
  })
}
