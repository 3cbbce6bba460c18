// Which server the commands ask, and with which token. A token goes to the server that it was given for and to no
// other: the one of a context to that context's server, the administrator's of this machine to this machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Context, readContexts } from './contexts.ts'
import { type ConfigSources, readConfig } from './read.ts'
import type { Config } from './settings.ts'

export type Connection = {
  readonly url: string
  /** What named the server: a flag, a variable, a context, or nothing did. */
  readonly urlFrom: string
  readonly token: string | undefined
  readonly tokenFrom: string
}

type Token = Pick<Connection, 'token' | 'tokenFrom'>

/** Flags before the environment, before the context in use, before the server of this machine. */
export async function findConnection(sources: ConfigSources = {}): Promise<Connection> {
  const { config, explained } = await readConfig(sources)
  const from = (name: 'url' | 'token') => explained.find((setting) => setting.name === name)?.source ?? ''
  const { current, contexts } = readContexts(sources.environment)
  const chosen = current === null ? undefined : contexts[current]
  const local = localUrl(config)
  const [url, urlFrom] =
    config.url !== undefined
      ? [config.url, from('url')]
      : chosen !== undefined
        ? [chosen.url, `context ${current}`]
        : [local, 'this machine']
  if (config.token !== undefined) return { url, urlFrom, token: config.token, tokenFrom: from('token') }
  const isSame = ([name, context]: [string, Context]) =>
    context.url === url && (chosen?.url !== url || name === current)
  const [name, context] = Object.entries(contexts).find(isSame) ?? []
  if (context?.token !== undefined) return { url, urlFrom, token: context.token, tokenFrom: `context ${name}` }
  return { url, urlFrom, ...(url === local ? adminToken(config) : nobody) }
}

const nobody: Token = { token: undefined, tokenFrom: 'nowhere' }

/** Where a server with these settings is reached from this machine. */
export function localUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`
}

/** The administrator's token, where this machine's server keeps it and for a server on this machine alone. */
function adminToken(config: Config): Token {
  if (!/^http:\/\/(127(\.\d+){3}|localhost|\[::1\]):\d+$/.test(localUrl(config))) return nobody
  if (config.admin_token !== undefined) return { token: config.admin_token, tokenFrom: 'admin_token' }
  const file = join(config.data, 'admin-token')
  try {
    return { token: readFileSync(file, 'utf8').trim() || undefined, tokenFrom: file }
  } catch {
    // It is readable by the one who runs the server; for everyone else there is `millrace login`.
    return nobody
  }
}
