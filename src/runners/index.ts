export { type AttendOptions, attend, basicEnvironment, toTimeoutMs } from './attend.ts'
export { type ContainerRunnerOptions, createContainerRunner, EngineMissing } from './container.ts'
export { createProcessRunner, type ProcessRunnerOptions } from './process.ts'
export {
  type AdoptingRunner,
  type CommandLimits,
  type CommandLine,
  type CommandSpec,
  type ContainerSpec,
  type Ending,
  InvalidCommand,
  type Mount,
  markerOf,
  type Runner,
  type RunnerDescription,
  type RunnerIo,
  type Running,
  type Sink,
  type Stream,
  type Which,
} from './runner.ts'
export { newRunnerId } from './runner-id.ts'
export { makeScratchFolder, removeFolder, sweepScratchFolders } from './scratch-folder.ts'
