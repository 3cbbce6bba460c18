// The only reader of the environment.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { closest } from './closest.ts'
import { type Config, type Setting, type SettingName, settings } from './settings.ts'
import { withoutPassword } from './without-password.ts'

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
export type Explained = { name: SettingName; value: string | number | null; source: string }
export type ReadConfig = { config: Config; explained: Explained[] }

export type ConfigSources = {
  /** By setting name; what the command line's flags said. */
  flags?: Readonly<Record<string, string | undefined>>
  environment?: Readonly<Record<string, string | undefined>>
  workingDirectory?: string
}

/** Reads every setting: flags before the environment, before the nearest configuration file, before defaults. */
export async function readConfig(sources: ConfigSources = {}): Promise<ReadConfig> {
  const environment = sources.environment ?? process.env
  const folder = sources.workingDirectory ?? process.cwd()
  const file = await readFile(environment['MILLRACE_CONFIG'], folder)
  const values: Record<string, unknown> = {}
  const explained: Explained[] = []
  const problems: string[] = []
  for (const setting of settings as readonly Setting[]) {
    const given =
      fromFlag(setting, sources.flags ?? {}, problems) ??
      fromEnvironment(setting, environment, problems) ??
      fromFile(setting, file) ??
      (setting.byDefault === undefined ? undefined : { value: setting.byDefault, source: 'default' })
    const checked = given === undefined ? undefined : check(setting, given, folder, problems)
    if (checked !== undefined) values[setting.name] = checked
    explained.push({
      name: setting.name as SettingName,
      value: shown(setting, checked),
      source: given?.source ?? 'not set',
    })
  }
  if (problems.length > 0) throw new ConfigInvalid(problems)
  return { config: values as Config, explained }
}

function fromFlag(
  setting: Setting,
  flags: Readonly<Record<string, string | undefined>>,
  problems: string[],
): Given | undefined {
  const value = flags[setting.name]
  if (value === undefined) return undefined
  const flag = setting.flag?.split(' ')[0]
  return setting.isFlagFile
    ? fromSecretFile(setting, value, `flag ${flag}`, problems)
    : { value, source: `flag ${flag}` }
}

function fromSecretFile(setting: Setting, path: string, source: string, problems: string[]): Given | undefined {
  try {
    const value = readFileSync(path, 'utf8').trim()
    if (value !== '') return { value, source }
    problems.push(`${setting.name}: the file of ${source} is empty: ${path}`)
  } catch (error) {
    problems.push(`${setting.name}: the file of ${source} cannot be read: ${(error as Error).message}`)
  }
  return undefined
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
  if (path) return fromSecretFile(setting, path, `${own}_FILE`, problems)
  const second = setting.alsoNamed
  return second && environment[second] ? { value: environment[second], source: second } : undefined
}

function fromFile(setting: Setting, file: ConfigFile | undefined): Given | undefined {
  const value = file?.values[setting.name]
  return value === undefined || value === null
    ? undefined
    : { value, source: file?.path ?? '', folder: file?.folder ?? '' }
}

/** The value as the setting takes it; undefined, with the problem told, when it does not. */
export function check(setting: Setting, given: Given, folder: string, problems: string[]): unknown {
  const text = typeof given.value === 'number' ? String(given.value) : given.value
  const value = typeof text === 'string' ? setting.parse(text) : undefined
  if (value === undefined) {
    const found = setting.isSecret ? 'what was given (not shown)' : JSON.stringify(given.value)
    problems.push(`${setting.name} is ${found} (from ${given.source}); expected ${setting.expected}`)
    return undefined
  }
  return setting.isPath ? resolve(given.folder ?? folder, String(value)) : value
}

type ConfigFile = { readonly path: string; readonly folder: string; readonly values: Record<string, unknown> }

export const FILE_NAME = 'millrace.config.yaml'

/** The configuration file in force, or where one would be read: the one that is named, the nearest, or here. */
export function configPath({
  environment = process.env,
  workingDirectory = process.cwd(),
}: ConfigSources = {}): string {
  const named = environment['MILLRACE_CONFIG']
  return named ? resolve(workingDirectory, named) : (nearestFile(workingDirectory) ?? join(workingDirectory, FILE_NAME))
}

async function readFile(named: string | undefined, folder: string): Promise<ConfigFile | undefined> {
  const path = named ? resolve(folder, named) : nearestFile(folder)
  if (path === undefined) return undefined
  // Most commands run without such a file.
  const { parse } = await import('yaml')
  let values: unknown
  try {
    values = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    throw new ConfigInvalid([`${path} cannot be read: ${(error as Error).message.split('\n')[0]}`])
  }
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new ConfigInvalid([`${path} must hold settings as "name: value" lines`])
  }
  const owned = (settings as readonly Setting[]).filter(
    (setting) => setting.isOwnerOnly && setting.name in (values as object),
  )
  if (owned.length > 0) {
    const hints = owned.map(({ name }) => `${path} has the key ${name}, which is not taken from a configuration file`)
    throw new ConfigInvalid(hints, 'use `millrace login`, or MILLRACE_URL and MILLRACE_TOKEN')
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
