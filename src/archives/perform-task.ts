import type { Db } from '../db/index.ts'
import { type AnyWorker, defineWorker, type Later } from '../engine/index.ts'
import { dropLooseFiles, keepArtifacts, sweepFiles } from '../storage/index.ts'
import { archiveTaskKind, archiveTaskSchema } from './payload.ts'
import { Performing } from './performing.ts'
import type { TaskResult, TaskWorkshop } from './task-workshop.ts'

export type ArchiveTaskWorker = AnyWorker & {
  /** Resolves when nothing is being performed any more, also what the dispatcher has given up. */
  settled(): Promise<void>
}

const SWEEP_EVERY_MS = 3_600_000

/** The worker that performs the commands and scripts of archives, for a dispatcher. */
export function createArchiveTaskWorker(at: TaskWorkshop): ArchiveTaskWorker {
  const performing = new Performing(at)
  const underWay = new Set<Promise<unknown>>()
  const take = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work)
    const forget = () => underWay.delete(work)
    work.then(forget, forget)
    return work
  }
  // Nobody waits for it, and the next one comes: what it could not do is no error.
  const sweep = () => void take(sweepFiles(at.pool).catch(() => 0))
  const timer = setInterval(sweep, SWEEP_EVERY_MS).unref()
  sweep()
  const worker = defineWorker({
    kind: archiveTaskKind,
    payload: archiveTaskSchema,
    work: (context): Promise<TaskResult | Later> => take(performing.perform(context)),
    isPlain: (result) => !performing.filesOf.has(result),
    async onSuccess(tx, task, result) {
      const db: Db = { query: ({ text, values }) => tx.query(text, values) }
      await keepArtifacts(db, { task: task.id, attempt: task.epoch }, performing.filesOf.get(result) ?? [])
    },
    async onFailure(tx, task) {
      if (task.payload.artifacts.length === 0) return
      const db: Db = { query: ({ text, values }) => tx.query(text, values) }
      await dropLooseFiles(db, task.id)
    },
  })
  return Object.assign(worker, {
    async settled() {
      clearInterval(timer)
      await Promise.allSettled(underWay)
    },
  })
}
