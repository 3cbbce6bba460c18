// What `import … from 'millrace/testing'` gives.
export {
  type Drained,
  type DrainOptions,
  drain,
  type PerformOptions,
  performNext,
  type WorkOptions,
  work,
} from './engine/drain.ts'
export type { Performed, PerformedError } from './engine/manual-dispatcher.ts'
export { isLater, isUnchanged } from './engine/worker.ts'
