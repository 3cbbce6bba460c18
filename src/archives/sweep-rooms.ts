import type { Millrace } from '../engine/index.ts'
import { type AdoptingRunner, EngineMissing, markerOf, sweepScratchFolders } from '../runners/index.ts'

type Swept = {
  readonly millrace: Pick<Millrace, 'isUnderWay'>
  readonly containerRunner: AdoptingRunner
  readonly scratch: string
  readonly markerPrefix: string
}

const QUIET_MS = 3_600_000 // an attempt elsewhere that has lost its lease ends long before

/** Begins the markers of the commands of archives. */
export const markersOfTasks = (markerPrefix: string) => `${markerPrefix}archive-`

/** Begins the name of the folder of an attempt. */
export const nameOfRoom = (task: string, epoch: number) => `task-${task}.${epoch}`

/**
 * Removes the folders of attempts whose server was killed; returns how many. One that a container still uses stays until
 * the container has ended. What a process elsewhere made stays while its attempt is under way, and an hour longer.
 */
export async function sweepRooms({ millrace, containerRunner, scratch, markerPrefix }: Swept): Promise<number> {
  const prefix = markersOfTasks(markerPrefix)
  const inUse = new Set(
    await containerRunner.leftovers(prefix).catch((error: unknown) => {
      if (error instanceof EngineMissing) return []
      throw error
    }),
  )
  return sweepScratchFolders(scratch, async ({ name, isOwnerDead, ageMs }) => {
    const [, task, epoch] = /^task-(\d+)\.(\d+)$/.exec(name) ?? []
    if (task === undefined) return name.startsWith('node-') && isOwnerDead
    if (inUse.has(markerOf(prefix, task, Number(epoch)))) return false
    return isOwnerDead || (ageMs > QUIET_MS && !(await millrace.isUnderWay(task, Number(epoch))))
  })
}
