import { chmod, lstat, mkdir, readFile, realpath } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { type Config, readConfig, readInvocation } from '../../config/index.ts'
import { findRepository, install } from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { DemoRepository, requirePrograms } from '../demo/repository.ts'
import { goOn, play, type Stage } from '../demo/story.ts'
import { UsageError } from '../exit.ts'
import { addFlags, flagsOf } from '../flags.ts'
import { hookToken } from '../hook-token.ts'
import { aDuration } from '../numbers.ts'
import { clean } from '../render/text.ts'

const ARCHIVE = 'On Mills'
const USUAL_PORT = 7421 // beside that of a server which may run here already

type Options = Record<string, unknown> & { readonly once?: boolean; readonly every: number }

/** A living example: a real server, a real repository, and a story that shows what they do. */
export const demo: CommandFile = {
  usage: '[--once] [--every DURATION]',
  examples: ['millrace demo', 'millrace demo --data ./demo --once'],
  prints: 'stream',
  isServing: true,
  define(command) {
    addFlags(command, ['host', 'port', 'data', 'database_url'], {
      port: `${USUAL_PORT}, or any that is free`,
      data: 'a folder of yours among the temporary files',
    })
    command
      .option('--once', 'end when the story has been told')
      .addOption(
        new Option('--every <duration>', 'then commit again so often').argParser(aDuration).default(20_000, '20s'),
      )
  },
  async run(context, _, options: Options) {
    await requirePrograms()
    const config = await settle(context, options)
    const running = await (await context.host()).serve(config, context.signal)
    try {
      const isLost = running.failed.then((error) => {
        throw error
      })
      await Promise.race([isLost, perform(context, options, { config, ...running })])
    } catch (error) {
      if (!context.signal.aborted) throw error
    } finally {
      await running.stop()
    }
  },
}

type Started = { readonly config: Config; readonly url: string; readonly signInUrl: string | undefined }

async function perform(context: Context, { once, every }: Options, { config, url, signInUrl }: Started): Promise<void> {
  const { output, world } = context
  const millrace = readInvocation(world.environment)
  const say = (text: string) => output.item({ text }, () => text)
  say(`A server of Millrace runs at ${url}, with all it keeps below ${clean(config.data)}.`)
  const token = config.admin_token ?? (await readFile(join(config.data, 'admin-token'), 'utf8')).trim()
  if (signInUrl !== undefined) say(`Look at it in a browser: ${signInUrl}`)
  const where = `--server ${url} --token-file '${clean(join(config.data, 'admin-token'))}'`
  say(`Or from another terminal: ${millrace} loom '${ARCHIVE}' ${where}`)
  const stage = await prepare(context, { config, url, token })
  await play(stage)
  say(`Search the book, as it is or as it was: ${millrace} archive index '${ARCHIVE}' --search wheel ${where}`)
  say('That was the story. Kill this with -9 whenever you like and start it again: nothing is lost, it goes on.')
  if (!once) await goOn(stage, every)
}

async function prepare(
  context: Context,
  { config, url, token }: { readonly config: Config; readonly url: string; readonly token: string },
): Promise<Stage> {
  const { createClient, routes } = await import('../../api/index.ts')
  const connection = { url, urlFrom: 'the demonstration', token, tokenFrom: 'the demonstration' }
  const server: Server = { client: createClient({ url, token }), routes, connection }
  const repository = new DemoRepository(join(config.data, 'book'))
  await repository.create()
  const hooked = await findRepository({ kind: 'svn', path: repository.path })
  const { signal } = context
  const secret = await hookToken({ server, signal }, hooked, ARCHIVE)
  await install(hooked, { archive: ARCHIVE, url, branch: undefined, ...secret })
  const source = { type: 'svn', url: repository.url } as const
  await server.client.call(routes.archives.put, { params: { name: ARCHIVE }, body: { source, from: 1 } }, { signal })
  return { context, server, repository, archive: ARCHIVE, printer: join(config.data, 'the-printer-is-on') }
}

/** The settings, with a folder and a port of its own where none is set. The database is its own unless a flag names one. */
async function settle(context: Context, options: Options): Promise<Config> {
  const flags = flagsOf(options)
  const { config, explained } = await readConfig(context.sources(flags))
  const isSet = (setting: 'data' | 'port') =>
    explained.some(({ name, source }) => name === setting && source !== 'default')
  const data = await makeFolder(isSet('data') ? config.data : undefined)
  const port = isSet('port') ? config.port : await findPort(config.host)
  const { database_url: databaseUrl, ...rest } = config
  const database = flags['database_url'] === undefined || databaseUrl === undefined ? {} : { database_url: databaseUrl }
  return { ...rest, ...database, data, port, log_level: 'error' }
}

async function makeFolder(given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await mkdir(given, { recursive: true })
    return realpath(given)
  }
  const path = join(await realpath(tmpdir()), `millrace-demo-${userInfo().username}`)
  await mkdir(path, { mode: 0o755 }).catch(() => {})
  const found = await lstat(path)
  // Others may write to the folder for temporary files, and could have put something else there.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new UsageError(`${path} belongs to somebody else`, 'name another folder with --data')
  }
  await chmod(path, 0o755)
  return path
}

/** The usual one, so that a page that is open goes on after a restart; any other where that is taken. */
function findPort(host: string): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen({ host, port: USUAL_PORT }, () => probe.close(() => resolve(USUAL_PORT)))
  })
}
