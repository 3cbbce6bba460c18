import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { positiveInteger } from '../numbers.ts'
import { openAgain, StreamEnded } from '../open-again.ts'
import { ID, refOf } from '../task.ts'

type Options = { readonly follow?: boolean; readonly attempt?: number; readonly stream: 'mixed' | 'stdout' | 'stderr' }

/** Prints what a task wrote, as it was written, and with -f what it still writes. */
export const logs: CommandFile = {
  usage: 'ID [-f] [--attempt NUMBER] [--stream STREAM]',
  examples: ['millrace logs 118 --follow', 'millrace logs My-Project@12:index --attempt 1 --stream stderr'],
  prints: 'stream',
  define(command) {
    command
      .argument('<id>', ID)
      .option('-f, --follow', 'go on until the attempt has ended')
      .option('--attempt <number>', 'which attempt (default: the last one)', positiveInteger)
      .addOption(new Option('--stream <stream>', 'what of it').choices(['mixed', 'stdout', 'stderr']).default('mixed'))
  },
  async run(context, [id = ''], options: Options) {
    const server = await context.server()
    const asked: Asked = {
      id: refOf(id, server.connection.url),
      stream: options.stream,
      ...(options.attempt === undefined ? {} : { attempt: options.attempt }),
    }
    const write = writer(context, asked)
    if (options.follow) await follow(context, server, asked, write)
    else await print(context, server, asked, write)
  },
}

type Asked = { readonly id: string; readonly stream: Options['stream']; readonly attempt?: number }
type Write = (bytes: Uint8Array) => Promise<void>

/** The bytes as they are; as JSON they are pieces of text, none of which ends within a letter. */
function writer({ output }: Context, { id, stream }: Asked): Write {
  if (output.format === 'text') return (bytes) => output.write(bytes)
  const decoder = new TextDecoder()
  return async (bytes) => {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') output.item({ id, stream, text }, () => text)
  }
}

/** Part by part, so that a log of any size passes through. */
async function print(
  { signal }: Context,
  { client, routes }: Server,
  { id, ...query }: Asked,
  write: Write,
): Promise<void> {
  for (let start = 0; ; ) {
    const answer = await client.open(routes.tasks.log, { params: { id }, query: { ...query, start } }, { signal })
    let length = 0
    for await (const bytes of answer.body ?? []) {
      length += bytes.length
      await write(bytes)
    }
    if (length === 0) return
    start += length
  }
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
    if (attempt === undefined) return
    // A server that stops ends the stream as one that has sent everything does.
    const rest = await client.open(routes.tasks.log, { params: { id }, query: queryFrom() }, { signal })
    const isComplete = rest.headers.get('x-complete') === 'true'
    await pass(rest)
    if (!isComplete) throw new StreamEnded('the server ended the stream')
  })
}
