import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Option } from 'commander'
import type { Asked, routes } from '../../api/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import { DATA, dataOf, type NodeRow, nodeColumns, nodeTypes, parseJson, withOtherForm } from '../node.ts'
import { collect } from '../numbers.ts'
import { readAll } from '../prompt.ts'

type Options = {
  readonly type?: NodeRow['type']
  readonly shell?: string
  readonly parent: string
  readonly runIf?: NodeRow['run_if']
  readonly branch?: 'then' | 'else'
  readonly cwd?: string
  readonly data?: readonly string[]
  readonly file?: string
}

type NewNodes = NonNullable<Asked<(typeof routes)['nodes']['add']>['body']>

/** Adds a node: a command with its arguments, a text for the shell, another type, or many from a file. */
export const nodeAdd: CommandFile = {
  usage:
    '[--parent ID] [--run-if WHEN] [--branch BRANCH] [--cwd FOLDER] [--data PAIR] [--shell TEXT] [--type TYPE] [--file FILE] [COMMAND...]',
  examples: [
    'millrace node add --parent 12 --run-if always make -j4 clean',
    `millrace node add --shell 'make all' --data timeout=10m --data env:='{"CC":"clang"}'`,
  ],
  prints: 'list',
  foreign: 'program',
  define(command) {
    command
      .argument('[command...]', 'program to run and its arguments; options of this command come before it')
      .option('--shell <text>', 'run this text in the shell, instead of a program')
      .addOption(new Option('--type <type>', 'type of the node, described by --data').choices(nodeTypes))
      .option('--parent <id>', 'run after this node', 'root')
      .addOption(
        new Option('--run-if <when>', 'run if the parent ended so (default: success)').choices([
          'success',
          'failure',
          'always',
        ]),
      )
      .addOption(new Option('--branch <branch>', 'below an `if`: run with this outcome').choices(['then', 'else']))
      .option('--cwd <folder>', 'working folder, on the machine that runs it')
      .option('--data <pair>', DATA, collect)
      .option('--file <file>', 'read a JSON list of nodes, as the API takes it; - for standard input')
  },
  async run(context, words, options: Options) {
    const { client, routes } = await context.server()
    const body = options.file === undefined ? [oneNode(words, options)] : await readNodes(context, options.file)
    // A repetition after a broken connection adds nothing.
    const call = { signal: context.signal, idempotencyKey: randomUUID() }
    const added = await client.call(routes.nodes.add, { body }, call).catch((error: Error) => {
      throw options.file === undefined ? ofOptions(error, options.data ?? []) : error
    })
    const { output } = context
    const rows = added.map(({ metadata }) => metadata)
    await output.list(rows, nodeColumns(output.style), { id: ({ id }) => id, none: '' })
    if (output.format === 'text') output.note(`wait with \`millrace node wait ${rows.at(-1)?.id}\``)
  },
}

function oneNode(words: readonly string[], options: Options): NewNodes[number] {
  const [command, ...args] = words
  const given = [command !== undefined, options.shell !== undefined, options.type !== undefined]
  if (given.filter(Boolean).length !== 1) {
    throw new UsageError('say what is to run', 'give a command, or --shell, or --type with --data, or --file')
  }
  const data = {
    ...(command === undefined ? {} : { command, args }),
    ...(options.shell === undefined ? {} : { command: options.shell }),
    ...(options.cwd === undefined ? {} : { cwd: resolve(options.cwd) }),
    ...dataOf(options.data ?? []),
  }
  const metadata = {
    type: options.type ?? (command === undefined ? ('shell command' as const) : ('command' as const)),
    parent: options.parent,
    ...(options.runIf === undefined ? {} : { run_if: options.runIf }),
    ...(options.branch === undefined ? {} : { branch: options.branch }),
  }
  return { metadata, data }
}

/** A refusal of the one node that the options describe names them, and not the list in which it is sent. */
function ofOptions(error: Error, pairs: readonly string[]): Error {
  const message = error.message.replace(/^\/body\/0\/(?:metadata|data)\//, '/body/')
  return Object.assign(withOtherForm(error, pairs), { message })
}

async function readNodes(context: Context, file: string): Promise<NewNodes> {
  const text = file === '-' ? await readAll(context) : await readFile(file, 'utf8')
  const nodes = parseJson(file, text, 'write a list of nodes: see docs/guides/http.md')
  // The server says of each node what is wrong with it.
  return (Array.isArray(nodes) ? nodes : [nodes]) as NewNodes
}
