import type { Pool } from '../db/index.ts'
import { type AdoptingRunner, EngineMissing } from '../runners/index.ts'
import { findUnfinished } from './nodes.sql.ts'

type Swept = {
  readonly pool: Pool
  readonly containerRunner: AdoptingRunner
  readonly markerPrefix: string
}

/**
 * Ends containers on this host that outlived their server and that nobody will take up, because their task has ended: it
 * was killed while no server watched, or given up as lost on another host. Answers how many.
 */
export async function sweepContainers({ pool, containerRunner, markerPrefix }: Swept): Promise<number> {
  const markers = await containerRunner.leftovers(markerPrefix).catch((error: unknown) => {
    if (error instanceof EngineMissing) return []
    throw error
  })
  const left = markers.flatMap((marker) => {
    const [, task] = /^(\d{1,18})\.\d+$/.exec(marker.slice(markerPrefix.length)) ?? []
    return task === undefined ? [] : [{ marker, task }]
  })
  if (left.length === 0) return 0
  const unfinished = new Set(
    (await findUnfinished(pool, { tasks: left.map(({ task }) => task) })).map(({ task }) => task),
  )
  let count = 0
  for (const { marker, task } of left) if (!unfinished.has(task)) count += await containerRunner.sweep({ marker })
  return count
}
