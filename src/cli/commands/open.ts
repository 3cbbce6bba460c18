import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CommandFile } from '../command.ts'
import { ID, refOf } from '../task.ts'
import type { World } from '../world.ts'

type Options = { readonly print?: boolean; readonly signIn?: boolean }

/** Shows the page of a task, or the dashboard, in a browser; where there is none it prints the address. */
export const open: CommandFile = {
  usage: '[ID] [--sign-in] [--print]',
  examples: ['millrace open 118', 'millrace open 118 --sign-in --print'],
  prints: 'one',
  define(command) {
    command
      .argument('[id]', ID)
      .option('--sign-in', 'make a link that signs one browser in, once, within 15 minutes')
      .option('--print', 'print the address and open nothing')
  },
  async run(context, [given], { print, signIn }: Options) {
    const { client, routes, connection } = await context.server()
    const { signal, output, world } = context
    let path = '/'
    if (given !== undefined) {
      // A key is turned into the number, which names the task for good; one that nothing has is told here.
      const { id } = await client.call(routes.tasks.get, { params: { id: refOf(given, connection.url) } }, { signal })
      path = `/tasks/${id}`
    }
    let url = `${connection.url}${path}`
    if (signIn) {
      const link = await client.call(routes.session.link, { body: {} }, { signal })
      url = path === '/' ? link.url : link.url.replace('#', `?to=${encodeURIComponent(path)}#`)
    }
    const isOpened = !print && output.format === 'text' && (await openBrowser(url, world))
    output.one({ url, opened: isOpened }, () => [url])
  },
}

/** Whether a browser took the address. It is asked for only where a person sits at a screen. */
async function openBrowser(url: string, { stdout }: World): Promise<boolean> {
  if (stdout !== process.stdout || !stdout.isTTY) return false
  const [program, ...args] = process.platform === 'darwin' ? ['open', url] : ['xdg-open', url]
  const child = spawn(program as string, args, { stdio: 'ignore', detached: true })
  const [isStarted] = await Promise.race([
    once(child, 'spawn').then(() => [true]),
    once(child, 'error').then(() => [false]),
  ])
  child.unref()
  return isStarted === true
}
