export { type ConfigSources, type Explained, type ReadConfig, readConfig } from './read.ts'
export { type Config, type SettingName, settings } from './settings.ts'
export { withoutPassword } from './without-password.ts'
