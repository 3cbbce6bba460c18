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
export { InvalidPattern } from './errors.ts'
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
export { findFirstError, type LinePage, type LinesOf, type OutputLine, readLines } from './read-lines.ts'
export { type FoundLine, type SearchOptions, type SearchPage, searchLines } from './search-lines.ts'
export { createOutputWriter, resumeOutputWriter } from './write.ts'
