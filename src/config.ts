// The only reader of the environment. Each setting has one row here: its name, how it is given, what it may
// be and what it does. The command line's flags, the checks and the operations guide all come from this table.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { closest } from './closest.ts'

type Setting = {
  /** As in the configuration file; the environment's name is MILLRACE_ and this in capitals. */
  readonly name: string
  readonly flag?: string
  /** What the value must be, as an error says it. */
  readonly expected: string
  readonly schema: z.ZodType
  /** As it would be typed; undefined when the setting is absent unless given. */
  readonly byDefault?: string
  readonly sentence: string
  /** Never printed; may be given as the path of a file in MILLRACE_…_FILE. */
  readonly isSecret?: boolean
  /** Read when the setting's own variable is not set. */
  readonly alsoNamed?: string
  /** A path, relative to the configuration file that names it or else to the working directory. */
  readonly isPath?: boolean
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const wholeNumber = (max: number) => z.string().regex(/^\d+$/).transform(Number).pipe(z.number().max(max))

export const settings = [
  {
    name: 'host',
    flag: '--host <address>',
    expected: 'an address or host name to listen on',
    schema: z.string().regex(/^[\w.:-]+$/),
    byDefault: '127.0.0.1',
    sentence: 'Address to listen on. Any but a loopback address needs `admin_token` to be set.',
  },
  {
    name: 'port',
    flag: '--port <number>',
    expected: 'a whole number from 0 to 65535 (0 chooses a free port)',
    schema: wholeNumber(65_535),
    byDefault: '7420',
    sentence: 'Port to listen on.',
  },
  {
    name: 'data',
    flag: '--data <folder>',
    expected: 'the path of a folder',
    schema: z.string().min(1),
    byDefault: '.millrace',
    isPath: true,
    sentence: 'Folder for the embedded database, the admin token and other files.',
  },
  {
    name: 'database_url',
    flag: '--database-url <url>',
    expected: 'a URL such as postgresql://user:password@host:5432/database',
    schema: z.string().regex(/^postgres(ql)?:\/\/.+/),
    isSecret: true,
    alsoNamed: 'DATABASE_URL',
    sentence: 'PostgreSQL server to use (15 or newer) instead of the embedded one.',
  },
  {
    name: 'admin_token',
    expected: 'at least 16 characters without spaces',
    schema: z.string().regex(/^\S{16,}$/),
    isSecret: true,
    sentence: 'Token of the administrator. Without it one is made at first start and kept in `<data>/admin-token`.',
  },
  {
    name: 'migrate',
    flag: '--migrate <when>',
    expected: 'auto or never',
    schema: z.enum(['auto', 'never']),
    byDefault: 'auto',
    sentence:
      'Whether `serve` brings an older schema up to date, or refuses to start until `millrace migrate up` was run.',
  },
  {
    name: 'drain_seconds',
    flag: '--drain-seconds <number>',
    expected: 'a whole number from 0 to 3600',
    schema: wholeNumber(3600),
    byDefault: '30',
    sentence: 'How long a stop waits for requests and tasks under way before it cuts them off.',
  },
  {
    name: 'log_level',
    flag: '--log-level <level>',
    expected: `one of ${logLevels.join(', ')}`,
    schema: z.enum(logLevels),
    byDefault: 'info',
    sentence: 'How much is logged, as JSON lines on standard error.',
  },
] as const satisfies readonly Setting[]

type Name = (typeof settings)[number]['name']

export type Config = {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly database_url?: string
  readonly admin_token?: string
  readonly migrate: 'auto' | 'never'
  readonly drain_seconds: number
  readonly log_level: (typeof logLevels)[number]
}

/** A setting is not what it must be; the message names the setting, where it was given and what is expected. */
export class ConfigInvalid extends Error {
  readonly code = 'config_invalid'
  readonly remedy: string
  constructor(problems: readonly string[], remedy = 'see docs/guides/operations.md for all settings') {
    super(problems.join('\n'))
    this.remedy = remedy
  }
}

type Given = { readonly value: unknown; readonly source: string; readonly folder?: string }
export type Explained = { name: Name; value: string | number | null; source: string }
export type ReadConfig = { config: Config; explained: Explained[] }

export type ConfigSources = {
  /** By setting name; what the command line's flags said. */
  flags?: Readonly<Record<string, string | undefined>>
  environment?: Readonly<Record<string, string | undefined>>
  workingDirectory?: string
}

/** Reads every setting: flags before the environment, before the nearest configuration file, before defaults. */
export function readConfig(sources: ConfigSources = {}): ReadConfig {
  const environment = sources.environment ?? process.env
  const folder = sources.workingDirectory ?? process.cwd()
  const file = readFile(environment['MILLRACE_CONFIG'], folder)
  const values: Record<string, unknown> = {}
  const explained: Explained[] = []
  const problems: string[] = []
  for (const setting of settings as readonly Setting[]) {
    const given =
      fromFlag(setting, sources.flags ?? {}) ??
      fromEnvironment(setting, environment, problems) ??
      fromFile(setting, file) ??
      (setting.byDefault === undefined ? undefined : { value: setting.byDefault, source: 'default' })
    const checked = given === undefined ? undefined : check(setting, given, folder, problems)
    if (checked !== undefined) values[setting.name] = checked
    explained.push({ name: setting.name as Name, value: shown(setting, checked), source: given?.source ?? 'not set' })
  }
  if (problems.length > 0) throw new ConfigInvalid(problems)
  return { config: values as Config, explained }
}

function fromFlag(setting: Setting, flags: Readonly<Record<string, string | undefined>>): Given | undefined {
  const value = flags[setting.name]
  return value === undefined ? undefined : { value, source: `flag ${setting.flag?.split(' ')[0]}` }
}

function fromEnvironment(
  setting: Setting,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): Given | undefined {
  const own = `MILLRACE_${setting.name.toUpperCase()}`
  // An empty variable is one that a script meant to leave out.
  if (environment[own]) return { value: environment[own], source: own }
  const path = setting.isSecret ? environment[`${own}_FILE`] : undefined
  if (path) {
    try {
      return { value: readFileSync(path, 'utf8').trim(), source: `${own}_FILE` }
    } catch (error) {
      problems.push(`${setting.name}: the file of ${own}_FILE cannot be read: ${(error as Error).message}`)
      return undefined
    }
  }
  const second = setting.alsoNamed
  return second && environment[second] ? { value: environment[second], source: second } : undefined
}

function fromFile(setting: Setting, file: ConfigFile | undefined): Given | undefined {
  const value = file?.values[setting.name]
  return value === undefined || value === null
    ? undefined
    : { value, source: file?.path ?? '', folder: file?.folder ?? '' }
}

function check(setting: Setting, given: Given, folder: string, problems: string[]): unknown {
  const text = typeof given.value === 'number' ? String(given.value) : given.value
  const parsed = setting.schema.safeParse(text)
  if (!parsed.success || text === '') {
    const found = setting.isSecret ? 'what was given (not shown)' : JSON.stringify(given.value)
    problems.push(`${setting.name} is ${found} (from ${given.source}); expected ${setting.expected}`)
    return undefined
  }
  return setting.isPath ? resolve(given.folder ?? folder, parsed.data as string) : parsed.data
}

type ConfigFile = { readonly path: string; readonly folder: string; readonly values: Record<string, unknown> }

const FILE_NAME = 'millrace.config.yaml'

function readFile(named: string | undefined, folder: string): ConfigFile | undefined {
  const path = named ? resolve(folder, named) : nearestFile(folder)
  if (path === undefined) return undefined
  let values: unknown
  try {
    values = parseYaml(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new ConfigInvalid([`${path} cannot be read: ${(error as Error).message.split('\n')[0]}`])
  }
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new ConfigInvalid([`${path} must hold settings as "name: value" lines`])
  }
  const names = settings.map((setting) => setting.name as string)
  const unknown = Object.keys(values as object).filter((key) => !names.includes(key))
  if (unknown.length > 0) {
    const hints = unknown.map((key) => `${path} has the unknown key ${key}; did you mean ${closest(key, names)}?`)
    throw new ConfigInvalid(hints)
  }
  return { path, folder: dirname(path), values: values as Record<string, unknown> }
}

/** The file in this folder or the nearest one above it, up to the root of the repository. */
function nearestFile(folder: string): string | undefined {
  const path = join(folder, FILE_NAME)
  if (existsSync(path)) return path
  const above = dirname(folder)
  return above === folder || existsSync(join(folder, '.git')) ? undefined : nearestFile(above)
}

function shown(setting: Setting, value: unknown): string | number | null {
  if (value === undefined) return null
  if (!setting.isSecret) return value as string | number
  return setting.name === 'database_url' ? withoutPassword(value as string) : '(set, not shown)'
}

/** The URL as it may be printed: a password can stand before the @ or among the parameters. */
export function withoutPassword(databaseUrl: string): string {
  return databaseUrl.replace(/^(\w+:\/\/[^:@/]*):.*@/, '$1:***@').replace(/([?&](?:ssl)?password=)[^&]*/gi, '$1***')
}

/** The operations guide's table. */
export function settingsTable(): string {
  const rows = (settings as readonly Setting[]).map((setting) => {
    const variable = `MILLRACE_${setting.name.toUpperCase()}`
    const names = [variable, setting.isSecret ? `${variable}_FILE` : undefined, setting.alsoNamed]
    const given = names.filter((name) => name !== undefined).map((name) => `\`${name}\``)
    const flag = setting.flag ? `\`${setting.flag}\`` : ''
    const byDefault = setting.byDefault === undefined ? '' : `\`${setting.byDefault}\``
    return `| \`${setting.name}\` | ${flag} | ${given.join(', ')} | ${byDefault} | ${setting.sentence} Expected: ${setting.expected}. |`
  })
  return ['| setting | flag | environment | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
}
