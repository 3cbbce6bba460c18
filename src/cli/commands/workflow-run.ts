import type { CommandFile } from '../command.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../exit.ts'
import type { RanTask } from '../host.ts'
import { collect, positiveInteger } from '../numbers.ts'
import { clean } from '../render/text.ts'
import { PATHS, readWorkflowFiles } from '../workflow-files.ts'

type Options = {
  readonly task?: readonly string[]
  readonly archive: string
  readonly rev: number
  readonly env?: readonly string[]
}

/** Runs tasks here, in this folder, with the same runner as a server, and ends with the worst of their exit codes. */
export const workflowRun: CommandFile = {
  usage: '[PATH...] [--task NAME] [--archive NAME] [--rev NUMBER] [--env PAIR]',
  examples: [
    'millrace workflow run _workflows/build.yaml',
    'millrace workflow run --task build-PDF --env EDITION=draft',
  ],
  prints: 'stream',
  define(command) {
    command
      .argument('[path...]', PATHS)
      .option('--task <name>', 'only this task and what it depends on; may be given several times', collect)
      .option('--archive <name>', 'what tasks find as the name of the archive', 'archive')
      .option('--rev <number>', 'what they find as the revision', positiveInteger, 1)
      .option('--env <pair>', 'NAME=VALUE for all of them, secrets too; may be given several times', collect)
  },
  async run(context, paths, { task: tasks = [], archive, rev, env = [] }: Options) {
    const { output, world, signal } = context
    const tools = await context.workflowTools()
    const files = await readWorkflowFiles(context, paths)
    const print = prefixed(context)
    const ran = await tools.run(files, {
      folder: world.workingDirectory ?? process.cwd(),
      tasks,
      archive,
      rev,
      env: Object.fromEntries(env.map(toPair)),
      signal,
      onOutput: (task, stream, bytes) => print.take(task, stream, bytes),
      onEnd(one) {
        print.end(one.name)
        const { exitCode, ...rest } = one
        if (output.format === 'text') output.note(tell(one))
        else output.item({ ...rest, exit_code: exitCode }, () => '')
      },
    })
    return Math.max(0, ...ran.map(({ exitCode }) => exitCode))
  },
}

function tell({ name, state, exitCode, seconds, reason }: RanTask): string {
  const how = reason ?? (exitCode === 0 ? '' : `exited with ${exitCode}`)
  return `${clean(name)}: ${state}${how === '' ? '' : ` (${clean(how)})`}, ${seconds.toFixed(1)} s`
}

/** Each line behind the name of its task. The rest of a line is kept until it has come, or the task is over. */
function prefixed({ output, world: { stdout, stderr } }: Context) {
  const begun = { stdout: '', stderr: '' }
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  type Stream = keyof typeof begun
  const write = (task: string, stream: Stream, line: string) => {
    if (output.format === 'text') (stream === 'stdout' ? stdout : stderr).write(`${clean(task)} | ${line}\n`)
    else output.item({ name: task, stream, line }, () => '')
  }
  return {
    take(task: string, stream: Stream, bytes: Buffer): void {
      const lines = (begun[stream] + decoders[stream].decode(bytes, { stream: true })).split('\n')
      begun[stream] = lines.pop() ?? ''
      for (const line of lines) write(task, stream, line)
    },
    end(task: string): void {
      for (const stream of ['stdout', 'stderr'] as const) {
        const rest = begun[stream] + decoders[stream].decode()
        begun[stream] = ''
        if (rest !== '') write(task, stream, rest)
      }
    },
  }
}

function toPair(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--env is ${text}`, 'write NAME=VALUE')
  return [text.slice(0, at), text.slice(at + 1)]
}
