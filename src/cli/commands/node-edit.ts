import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { DATA, dataOf, NODE, type NodeRow, nodeTypes, withOtherForm } from '../node.ts'
import { collect } from '../numbers.ts'

type Options = {
  readonly type?: NodeRow['type']
  readonly parent?: string
  readonly runIf?: NodeRow['run_if']
  readonly branch?: 'then' | 'else'
  readonly data?: readonly string[]
  readonly unset?: readonly string[]
}

/** Edits or moves a node that has not started. */
export const nodeEdit: CommandFile = {
  usage: 'ID [--parent ID] [--type TYPE] [--run-if WHEN] [--branch BRANCH] [--data PAIR] [--unset KEY]',
  examples: [
    'millrace node edit 12 --parent 7',
    "millrace node edit 12 --data timeout=1h --data args:='[1]' --unset note",
  ],
  prints: 'change',
  define(command) {
    command
      .argument('<node>', NODE)
      .option('--parent <id>', 'run after this node, or root')
      .addOption(new Option('--type <type>', 'new type of the node').choices(nodeTypes))
      .addOption(new Option('--run-if <when>', 'run if the parent ended so').choices(['success', 'failure', 'always']))
      .addOption(new Option('--branch <branch>', 'below an `if`: run with this outcome').choices(['then', 'else']))
      .option('--data <pair>', DATA, collect)
      .option('--unset <key>', 'remove this value; may be given several times', collect)
  },
  async run(context, [id = ''], { type, parent, runIf, branch, data = [], unset = [] }: Options) {
    const metadata = Object.fromEntries(
      Object.entries({ type, parent, run_if: runIf, branch }).filter(([, value]) => value !== undefined),
    )
    const values = { ...dataOf(data), ...Object.fromEntries(unset.map((key) => [key, null])) }
    const body = {
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...(Object.keys(values).length === 0 ? {} : { data: values }),
    }
    if (Object.keys(body).length === 0) throw new UsageError('nothing is to be changed', 'say what: see --help')
    const { client, routes } = await context.server()
    const call = client.call(routes.nodes.change, { params: { id }, body }, { signal: context.signal })
    const node = await call.catch((error: Error) => {
      throw withOtherForm(error, data)
    })
    context.output.one(node, () => [`changed node ${id}`], [id])
  },
}
