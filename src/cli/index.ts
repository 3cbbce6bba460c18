export type { Host, LoadHost, Running, RunningWorker } from './host.ts'
export { run } from './program.ts'
export { version } from './version.ts'
export type { World } from './world.ts'
