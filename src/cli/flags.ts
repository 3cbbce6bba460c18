import type { Command } from 'commander'
import { type ReadConfig, readConfig, type SettingName, settings } from '../config/index.ts'

/** Gives a command the flags of the settings that it uses. */
export function addFlags(command: Command, names: readonly SettingName[]): Command {
  for (const setting of settings) {
    if (!('flag' in setting) || !names.includes(setting.name)) continue
    const byDefault = 'byDefault' in setting ? ` (default: ${setting.byDefault})` : ''
    command.option(setting.flag, `${setting.sentence}${byDefault}`)
  }
  return command
}

/** Reads the settings with what the flags said. */
export function configOf(options: Readonly<Record<string, unknown>>): Promise<ReadConfig> {
  const flags: Record<string, string> = {}
  for (const [key, value] of Object.entries(options)) {
    // Commander turns --database-url into databaseUrl; settings are named database_url.
    if (typeof value === 'string') flags[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
  }
  return readConfig({ flags })
}
