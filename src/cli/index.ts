export type { Host, LoadHost, Running } from './host.ts'
export { run } from './program.ts'
export { version } from './version.ts'
