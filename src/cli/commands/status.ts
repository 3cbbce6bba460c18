import type { Connection } from '../../config/index.ts'
import type { CommandFile } from '../command.ts'
import { countsLine } from '../count-tasks.ts'
import type { Style } from '../render/style.ts'
import { clean } from '../render/text.ts'

/** Which server and which token are in use, as far as that is known without the server: told before what is wrong. */
function tellConnection(style: Style, { url, urlFrom, token, tokenFrom }: Connection): string[] {
  return [
    `${style.dim('server ')}  ${url}  ${style.dim(`by ${urlFrom}`)}`,
    `${style.dim('token  ')}  ${token === undefined ? 'none' : `by ${clean(tokenFrom)}`}`,
  ]
}

/** Says which server is asked, who asks it, who performs its tasks and how they stand. */
export const status: CommandFile = {
  usage: '',
  examples: ['millrace status', 'millrace status --json=tasks'],
  prints: 'one',
  async run({ output, server, signal }) {
    const { client, routes, connection } = await server()
    // Who asks is told first: without a role there is nothing else to see.
    const me = await client.call(routes.session.me, {}, { signal }).catch((error: unknown) => {
      if (output.format === 'text') for (const line of tellConnection(output.style, connection)) output.line(line)
      throw error
    })
    const [document, { states }, workers] = await Promise.all([
      client.call(routes.about.openapi, {}, { signal }),
      client.call(routes.tasks.counts, {}, { signal }),
      client.call(routes.workers.list, {}, { signal }),
    ])
    const { version } = (document as { info: { version: string } }).info
    const { style } = output
    // One process may be several, for different kinds of work.
    const names = [...new Set(workers.items.map(({ name }) => name))]
    const you = { name: me.name, role: me.role, limit: me.limit, from: connection.tokenFrom }
    const found = { url: connection.url, url_from: connection.urlFrom, version, you, workers: names, tasks: states }
    const may = me.limit === null ? `role ${me.role}` : `limited to ${me.limit.to} ${me.limit.name}`
    output.one(found, () => [
      `${style.dim('server ')}  ${connection.url}  ${style.dim(`millrace ${version}, by ${connection.urlFrom}`)}`,
      `${style.dim('you    ')}  ${clean(me.name)}, ${clean(may)}  ${style.dim(`by ${connection.tokenFrom}`)}`,
      `${style.dim('workers')}  ${names.length === 0 ? 'none: nothing is performed' : clean(names.join(', '))}`,
      `${style.dim('tasks  ')}  ${countsLine(states, style)}`,
    ])
  },
}
