import type { Pool } from '../db/index.ts'
import type { NodeId, NodeType } from './node.ts'
import { beginWork } from './nodes.sql.ts'
import { readSpec, type Spec, specKeys } from './spec.ts'

/** The work of an attempt, which counts as begun from now on. */
export type Begun = {
  readonly node: NodeId
  readonly type: NodeType
  readonly spec: Spec
  /** Seconds since the first attempt at this work was claimed. */
  readonly seconds: number
  /** The database's time. */
  readonly now: Date
  /** An attempt at the same work that ended without an outcome, and how. */
  readonly lost: { readonly epoch: number; readonly how: 'handed_back' | 'lease_lost' } | undefined
}

type Asked = {
  readonly task: string
  readonly epoch: number
  readonly resolve: (begun: Begun | undefined) => void
  readonly reject: (error: Error) => void
}

/** Begins work in batches: while one statement is under way, those that come gather for the next. */
export class Beginnings {
  readonly #pool: Pool
  #asked: Asked[] = []
  #isAsking = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Undefined when the attempt does not have the task, or was asked to stop. May be asked again. */
  begin(task: string, epoch: number): Promise<Begun | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ task, epoch, resolve, reject })
      if (this.#isAsking) return
      this.#isAsking = true
      // Tasks of one claim begin in one turn.
      setImmediate(() => void this.#ask())
    })
  }

  async #ask(): Promise<void> {
    while (this.#asked.length > 0) {
      const asked = this.#asked.splice(0)
      try {
        const rows = await beginWork(this.#pool, {
          tasks: asked.map(({ task }) => task),
          epochs: asked.map(({ epoch }) => epoch),
          keys: specKeys,
        })
        const found = new Map(rows.map((row) => [row.task, row]))
        for (const { task, resolve, reject } of asked) {
          const row = found.get(task)
          try {
            resolve(row === undefined ? undefined : toBegun(row))
          } catch (error) {
            reject(error as Error)
          }
        }
      } catch (error) {
        for (const { reject } of asked) reject(error as Error)
      }
    }
    this.#isAsking = false
  }
}

function toBegun(row: Awaited<ReturnType<typeof beginWork>>[number]): Begun {
  const { earlier, earlier_epoch: epoch } = row
  return {
    node: row.id,
    type: row.type as NodeType,
    spec: readSpec(row.data),
    seconds: row.begun_seconds,
    now: row.now,
    lost:
      epoch !== null && (earlier === 'handed_back' || earlier === 'lease_lost') ? { epoch, how: earlier } : undefined,
  }
}
