import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { NODE, parseJson } from '../node.ts'
import { readAll } from '../prompt.ts'

type Options = { readonly asJson?: boolean; readonly ifUnset?: boolean }

/** Sets a value of a node. */
export const nodeSet: CommandFile = {
  usage: 'ID KEY [VALUE] [--as-json] [--if-unset]',
  examples: ['millrace node set 12 note "seen by ana"', 'millrace node set 12 seen true --as-json --if-unset'],
  prints: 'change',
  define(command) {
    command
      .argument('<node>', NODE)
      .argument('<key>', 'key of the value')
      .argument('[value]', 'a text (default: what is on standard input)')
      .option('--as-json', 'the value is JSON, as KEY:=JSON is in `node add --data`')
      .option('--if-unset', 'set it only where there is none; exit code 5 otherwise')
  },
  async run(context, [id = '', key = '', given], { asJson, ifUnset }: Options) {
    if (given === undefined && key.includes('=')) {
      throw new UsageError(
        `the key is ${key}`,
        'write `millrace node set ID KEY VALUE`, with --as-json where VALUE is JSON',
      )
    }
    if (given === undefined && context.world.stdin.isTTY) {
      throw new UsageError('there is no value', 'give one, or pipe it in')
    }
    const text = given ?? (await readAll(context))
    const value = asJson ? parseJson(key, text, 'write JSON, or leave out --as-json for a text') : text
    const { client, routes } = await context.server()
    const query = ifUnset ? { start: '' } : {}
    await client.call(routes.nodes.write, { params: { id, key }, query, body: { value } }, { signal: context.signal })
    context.output.one({ id, key, value }, () => [`set ${key} of node ${id}`], [id])
  },
}
