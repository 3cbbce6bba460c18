// Outages of a database under a fleet that works, several fleets at a time.
import { waitFor } from '../processes.ts'
import { count, namesOf, untilFinished } from './kit.ts'
import { type Fleet, type Outage, startFleet, suffer } from './outage-fleet.ts'
import { findOutageFaults, lostTasks } from './outage-proof.ts'
import { Work } from './outage-work.ts'

export type Job = { readonly leaseSeconds: number; readonly outages: readonly Outage[] }

/** Runs the jobs, so many at a time, each on a fleet of its own. Returns the faults by what they were found after. */
export async function outagesUnderLoad(jobs: readonly Job[], atOnce: number): Promise<Record<string, string[]>> {
  const left = [...jobs]
  const found: Record<string, string[]> = {}
  const runNext = async () => {
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      const faults = await run(job).catch((error: unknown) => [String(error)])
      const { way, seconds } = job.outages[0] as Outage
      if (faults.length > 0) found[`${way}, ${seconds} s`] = faults.slice(0, 20)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, runNext))
  return found
}

async function run({ leaseSeconds, outages }: Job): Promise<string[]> {
  await using fleet = await startFleet(leaseSeconds)
  const work = new Work(fleet)
  for (const outage of outages) {
    work.start()
    // Some end while the database is away, some when it is back.
    await work.begin([0.3, 0.6, 0.9, 1.1].map((part) => part * outage.seconds + 1))
    await suffer(fleet, outage)
    await work.begin([0])
    await work.stop()
    await untilFinished(fleet.pool)
    if (outage.way === 'cut one') await untilDropped(fleet)
  }
  // Awaited here: the fleet ends with this function.
  return await findOutageFaults(fleet, work, outages)
}

/** Waits until results that came too late have been refused. */
async function untilDropped({ pool, millrace, libraries }: Fleet): Promise<void> {
  const lost = await lostTasks(pool, [libraries[0]?.program.pid ?? 0])
  const begun = [...lost].filter((task) => libraries[0]?.program.stdout().includes(`begun ${task}\n`))
  const dropped = `millrace.event where name = 'result_dropped' and task = $1`
  const late = begun.map(async (task) => {
    const isDropped = waitFor(async () => ((await count(pool, dropped, [task])) > 0 ? true : undefined))
    await isDropped.catch(async (error: Error) => {
      const story = await namesOf(millrace, task)
      throw new Error(`the late result of task ${task} was not dropped: ${story.join(', ')}`, { cause: error })
    })
  })
  await Promise.all(late)
}
