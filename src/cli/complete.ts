// Completion in the shell. The scripts and the matching are @bomb.sh/tab's; here it gets the command tree, and the ids of
// tasks from the server.
import type { RootCommand } from '@bomb.sh/tab'
import type { Command } from 'commander'
import type { Context } from './context.ts'
import { findCommand, findForeign, takesForeign } from './foreign.ts'
import { listTasks } from './list-tasks.ts'
import { createProgram, loadAll } from './program.ts'
import { clean } from './render/text.ts'
import { nameOf } from './task.ts'
import { withTimeout } from './with-timeout.ts'

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

/** The script that teaches a shell to ask `millrace complete`. */
export async function scriptFor(shell: string): Promise<string> {
  const script = await printed((tab) => tab.setup('millrace', 'millrace', shell))
  // Who reads their ~/.bashrc again would be told of each constant that it cannot be set a second time.
  return shell === 'bash' ? script.replaceAll(/^readonly /gm, '') : script
}

/** How the words may go on, one suggestion a line, as the scripts read them. */
export async function suggest(context: Context, words: readonly string[]): Promise<string[]> {
  // Options and the commands themselves are known without a server.
  const mayBeId = words.length > 1 && !words.at(-1)?.startsWith('-')
  const ids = mayBeId ? await idsOf(context) : []
  const text = await printed((tab, program) => {
    if (isForeign(program, words)) return console.log(OTHERS)
    for (const command of tab.commands.values()) {
      const argument = command.arguments.get('id')
      if (argument === undefined) continue
      argument.handler = (complete) => {
        for (const [id, about] of ids) complete(id, about)
      }
    }
    tab.parse([...words])
  })
  return text.split('\n').filter((line) => line !== '')
}

const OTHERS = ':0' // as the scripts read it: the shell completes by itself, with the names of files

/** The last word belongs to another program, or names it. */
function isForeign(program: Command, words: readonly string[]): boolean {
  const { command, at } = findCommand(program, words)
  if (findForeign(command, words, at) !== undefined) return true
  return takesForeign(command) && words.slice(at, -1).includes('--')
}

const BUDGET_MS = 300 // longer than that, and the person has typed on

/** The newest tasks; none when the server does not answer while the person waits. */
async function idsOf(context: Context): Promise<(readonly [string, string])[]> {
  try {
    const server = await context.server()
    using limited = withTimeout(context.signal, BUDGET_MS, () => new Error('too late'))
    const { items } = await listTasks(server, {}, { most: 50, signal: limited.signal })
    return items.map((task) => [task.id, `${task.state} ${clean(nameOf(task))}`] as const)
  } catch {
    return []
  }
}

/** The package prints by itself: what it says is caught. */
async function printed(use: (tab: RootCommand, program: Command) => void): Promise<string> {
  const { default: toTab } = await import('@bomb.sh/tab/commander')
  // It brings commands of these names itself, and refuses to find them there.
  const program = createProgram(async () => {}, ['completion', 'complete'])
  await loadAll(program, async () => {})
  const tab = toTab(program, { completionCommandName: 'completion' })
  const lines: string[] = []
  const { log } = console
  console.log = (...parts: unknown[]) => void lines.push(parts.join(' '))
  try {
    use(tab, program)
  } finally {
    console.log = log
  }
  return lines.join('\n')
}
