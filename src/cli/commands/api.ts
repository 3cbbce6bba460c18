import { readFile } from 'node:fs/promises'
import { anyRoute } from '../any-route.ts'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { readAll } from '../prompt.ts'

type Options = { readonly body?: string }
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Sends any request to the server, with the token, and prints what it answers. */
export const api: CommandFile = {
  usage: 'METHOD PATH [--body FILE]',
  examples: [
    'millrace api GET /v1/openapi.json',
    `echo '{"cause":"not today"}' | millrace api POST /v1/tasks/118/hold --body -`,
  ],
  prints: 'one',
  define(command) {
    command
      .argument('<method>', methods.join(', '))
      .argument('<path>', 'from the server on: /v1/tasks?state=failed')
      .option('--body <file>', 'file that holds the JSON to send; - for standard input')
  },
  async run(context, [given = '', path = ''], options: Options) {
    const { client } = await context.server()
    const method = methods.find((one) => one === given.toUpperCase())
    if (method === undefined) throw new UsageError(`there is no method ${given}`, `use ${methods.join(', ')}`)
    // Anything else could make another host of the server's address, and the token would go there.
    if (!path.startsWith('/')) throw new UsageError(`the path ${path} does not begin with /`, 'write /v1/tasks')
    const body = options.body === undefined ? undefined : await readJson(context, options.body)
    const answer = await client.open(anyRoute(method, path), body === undefined ? {} : { body }, {
      signal: context.signal,
    })
    for await (const bytes of answer.body ?? []) await context.output.write(bytes)
    if (context.output.isLive) context.output.line('')
  },
}

async function readJson(context: Context, file: string): Promise<unknown> {
  const text = file === '-' ? await readAll(context) : await readFile(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`the body is not JSON: ${(error as Error).message}`, 'send one JSON value')
  }
}
