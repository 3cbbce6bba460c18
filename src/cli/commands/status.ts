import type { CommandFile } from '../command.ts'
import { countsLine, countTasks } from '../count-tasks.ts'
import { clean } from '../render/text.ts'

const MOST = 500

/** Says which server is asked, who asks it, and how its tasks stand. */
export const status: CommandFile = {
  usage: '',
  examples: ['millrace status', 'millrace status --json=tasks'],
  prints: 'one',
  async run({ output, server, signal }) {
    const there = await server()
    const { client, routes, connection } = there
    // The role is told first: without one there is nothing else to see.
    const me = await client.call(routes.session.me, {}, { signal })
    const [document, tasks] = await Promise.all([
      client.call(routes.about.openapi, {}, { signal }),
      countTasks(there, MOST, signal),
    ])
    const { version } = (document as { info: { version: string } }).info
    const { style } = output
    const found = {
      url: connection.url,
      url_from: connection.urlFrom,
      version,
      you: { name: me.name, role: me.role, limit: me.limit, from: connection.tokenFrom },
      tasks: tasks.counts,
      tasks_at_least: tasks.atLeast,
    }
    const may = me.limit === null ? `role ${me.role}` : `limited to ${me.limit.to} ${me.limit.name}`
    output.one(found, () => [
      `${style.dim('server')}  ${connection.url}  ${style.dim(`millrace ${version}, by ${connection.urlFrom}`)}`,
      `${style.dim('you   ')}  ${clean(me.name)}, ${clean(may)}  ${style.dim(`by ${connection.tokenFrom}`)}`,
      `${style.dim('tasks ')}  ${countsLine(tasks, style)}`,
    ])
  },
}
