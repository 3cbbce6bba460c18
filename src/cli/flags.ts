import type { Command } from 'commander'
import { type SettingName, settings } from '../config/index.ts'

/** What a command takes where it does not take the default of a setting, in words. */
type OwnDefaults = Partial<Record<SettingName, string>>

/** Gives a command the flags of the settings that it uses. */
export function addFlags(command: Command, names: readonly SettingName[], own: OwnDefaults = {}): Command {
  for (const setting of settings) {
    if (!('flag' in setting) || !names.includes(setting.name)) continue
    const byDefault = own[setting.name] ?? ('byDefault' in setting ? setting.byDefault : undefined)
    command.option(setting.flag, `${setting.sentence}${byDefault === undefined ? '' : ` (default: ${byDefault})`}`)
  }
  return command
}

/** What the flags said, by the names of the settings. Commander turns --database-url into databaseUrl. */
export function flagsOf(options: Readonly<Record<string, unknown>>): Record<string, string> {
  const flags: Record<string, string> = {}
  for (const { name } of settings) {
    const value = options[name.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase())]
    // Where the server is, and its token, come with every command.
    if (typeof value === 'string' && name !== 'url' && name !== 'token') flags[name] = value
  }
  return flags
}
