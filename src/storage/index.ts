export {
  type Artifact,
  beginFiles,
  dropFiles,
  dropLooseFiles,
  FileUnusable,
  findArtifact,
  keepArtifacts,
  type ListArtifacts,
  listArtifacts,
  readArtifact,
  type StoredFile,
  storeFile,
  sweepFiles,
} from './artifacts.ts'
export { type AttemptOutput, createAttemptOutput } from './attempt-output.ts'
export { followOutput } from './follow.ts'
export type {
  FollowOptions,
  OutputOf,
  OutputPiece,
  OutputRun,
  OutputSize,
  OutputStream,
  OutputView,
  OutputWriter,
  OutputWriterOptions,
  ReadOptions,
} from './output.ts'
export { patiently } from './patiently.ts'
export { outputSize, readOutput } from './read.ts'
export { createOutputWriter, resumeOutputWriter } from './write.ts'
