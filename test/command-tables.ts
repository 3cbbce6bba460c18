import type { Command } from 'commander'
import { createProgram, loadAll } from '../src/cli/program.ts'

/** The commands as the guide lists them: a table for each group, a row for each command. */
export async function commandTables(): Promise<string> {
  const nothing = async () => {}
  const program = createProgram(nothing)
  await loadAll(program, nothing)
  const groups = new Map<string, string[]>()
  const visible = program.createHelp().visibleCommands(program)
  for (const command of program.commands.filter((one) => visible.includes(one))) {
    const title = command.helpGroup().replace(':', '')
    groups.set(title, [...(groups.get(title) ?? []), ...rowsOf(command, '')])
  }
  return [...groups]
    .map(([title, rows]) => [`### ${title}`, '', '| command | does |', '| --- | --- |', ...rows].join('\n'))
    .join('\n\n')
}

function rowsOf(command: Command, above: string): string[] {
  const name = `${above}${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap((below) => rowsOf(below, `${name} `))
  const usage = command.usage().replace(/ ?\[options\] ?/, '')
  return [`| \`${[name, usage].filter(Boolean).join(' ').replaceAll('|', '\\|')}\` | ${command.description()} |`]
}
