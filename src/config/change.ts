import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { closest } from './closest.ts'
import { ConfigInvalid, type ConfigSources, check, configPath } from './read.ts'
import { type Setting, settings } from './settings.ts'

/**
 * Writes one setting into the configuration file, or takes it out when `value` is undefined; everything else in the
 * file stays as it is, comments too. Answers the path of the file.
 */
export async function changeConfig(
  name: string,
  value: string | undefined,
  sources: ConfigSources = {},
): Promise<string> {
  const setting = settingOf(name)
  const path = configPath(sources)
  const written = value === undefined ? undefined : writable(setting, value, { path, sources })
  const { isMap, isScalar, parseDocument } = await import('yaml')
  const document = parseDocument(existsSync(path) ? readFileSync(path, 'utf8') : '')
  const problem = document.errors[0]?.message.split('\n')[0]
  if (problem !== undefined) throw new ConfigInvalid([`${path} cannot be read: ${problem}`], 'mend the file')
  // Comments alone are read as null.
  if (isScalar(document.contents) && document.contents.value === null) document.contents = null
  if (document.contents !== null && !isMap(document.contents)) {
    throw new ConfigInvalid([`${path} must hold settings as "name: value" lines`], 'mend the file')
  }
  if (written === undefined && document.contents !== null) document.delete(name)
  if (written !== undefined) document.set(name, written)
  // An empty mapping would be written as {}, and everything after it inside the braces.
  if (isMap(document.contents) && document.contents.items.length === 0) document.contents = null
  const text = document.contents === null ? document.toString().replace(/null\n$/, '') : document.toString()
  replaceFile(path, text, setting.isSecret === true)
  return path
}

function settingOf(name: string): Setting {
  const known = settings as readonly Setting[]
  const setting = known.find((one) => one.name === name)
  if (setting === undefined) {
    const names = known.map((one) => one.name)
    throw new ConfigInvalid([`there is no setting ${name}; did you mean ${closest(name, names)}?`])
  }
  if (setting.isOwnerOnly) {
    throw new ConfigInvalid([`${name} is not taken from a configuration file`], 'use `millrace login`')
  }
  return setting
}

type Target = { readonly path: string; readonly sources: ConfigSources }

/** What stands in the file: a number as one, and a path so that it means the same there as where it was typed. */
function writable(setting: Setting, value: string, { path, sources }: Target): string | number {
  const folder = sources.workingDirectory ?? process.cwd()
  const problems: string[] = []
  const checked = check(setting, { value, source: 'the command line' }, folder, problems)
  if (checked === undefined) throw new ConfigInvalid(problems)
  if (!setting.isPath) return checked as string | number
  return dirname(path) === resolve(folder) ? value : (checked as string)
}

/** In one step, so that whoever reads sees the old file or the new one. One that holds a secret is for its owner alone. */
function replaceFile(path: string, text: string, hasSecret: boolean): void {
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(draft, text, { mode: hasSecret ? 0o600 : 0o644, flag: 'wx', flush: true })
    if (!hasSecret && existsSync(path)) chmodSync(draft, statSync(path).mode & 0o777)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new ConfigInvalid([`${path} cannot be written: ${(error as Error).message}`], 'make its folder writable')
  }
}
