export type { Host, Loaders, Running, RunningWorker } from './host.ts'
export { run } from './program.ts'
export { version } from './version.ts'
export type { World } from './world.ts'
