import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Context } from './context.ts'
import { UsageError } from './exit.ts'
import { Interrupted } from './world.ts'

type Asked = {
  /** The command takes `--dry-run`, which is named only where it is there. */
  readonly hasDryRun?: boolean
}

/** Asks a yes-or-no question. Throws unless the answer is yes, and where there is nobody to ask. */
export async function confirm(context: Context, question: string, { hasDryRun }: Asked = {}): Promise<void> {
  if (!context.world.stdin.isTTY) {
    throw new UsageError(
      'this is not done unasked, and there is nobody to ask',
      hasDryRun ? 'add --yes, or look first with --dry-run' : 'add --yes',
    )
  }
  const answer = await askLine(context, `${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was changed', 'answer y, or add --yes')
}

/** A secret, from standard input: typed without being shown, or piped. */
export async function readSecret(context: Context, question: string): Promise<string> {
  if (context.world.stdin.isTTY) return (await askLine(context, question, true)).trim()
  return (await readAll(context)).trim()
}

/** Everything on standard input. */
export async function readAll(context: Context): Promise<string> {
  return (await readBytes(context)).toString('utf8')
}

/** Everything on standard input, as it is. */
export async function readBytes({ world: { stdin } }: Context): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function askLine({ world, signal }: Context, question: string, isHidden = false): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  world.stderr.write(question)
  const reader = createInterface({ input: world.stdin, output: isHidden ? nowhere : world.stderr, terminal: true })
  return new Promise<string>((resolve, reject) => {
    let answer: string | undefined
    reader.on('line', (line) => {
      answer = line
      reader.close()
    })
    // The reader takes Ctrl-C for itself.
    reader.on('SIGINT', () => {
      reject(new Interrupted('SIGINT'))
      reader.close()
    })
    reader.on('close', () => {
      if (isHidden || answer === undefined) world.stderr.write('\n')
      resolve(answer ?? '')
    })
    signal.addEventListener('abort', () => {
      reject(signal.reason)
      reader.close()
    })
  })
}
