// Which schedules there are: those of the newest definition that was planned, and no others.
import { type Pool, transaction } from '../db/index.ts'
import { hasErrors } from './definition/read-definition.ts'
import { nextAfter } from './schedule.ts'
import { breakSchedules, changedSources, lockSource, replaceSchedules, setSource } from './schedules.sql.ts'
import { loadFiles } from './workflow-files.ts'

/** Takes up the schedules of definitions that have changed. */
export async function syncSchedules(pool: Pool): Promise<void> {
  for (const { archive } of await changedSources(pool, {})) await syncArchive(pool, archive)
}

function syncArchive(pool: Pool, archive: string): Promise<void> {
  return transaction(pool, async (tx) => {
    const source = await lockSource(tx, { archive })
    // Another server was first.
    if (source === undefined || source.is_known) return
    const { definition } = await loadFiles(tx, source.definition)
    if (hasErrors(definition.problems)) {
      // What was meant is not known: they stay, and say why they do not run, until the files are mended.
      await breakSchedules(tx, { archive, problem: `the workflow files of revision ${source.number} have errors` })
    } else {
      const schedules = definition.workflows.flatMap(({ name, on }) =>
        on.schedule.map(({ cron, timezone, overlap }) => ({
          workflow: name,
          cron,
          timezone,
          overlap,
          // From when it was planned, not from when that was noticed: a moment between the two is not lost.
          next_at: nextAfter({ cron, timezone }, source.planned_at)?.toISOString() ?? null,
        })),
      )
      await replaceSchedules(tx, { archive, schedules: JSON.stringify(unique(schedules)) })
    }
    await setSource(tx, { archive, definition: source.definition })
  })
}

type Wanted = { readonly workflow: string; readonly cron: string; readonly timezone: string }

/** A time that a workflow names twice is one. */
function unique<T extends Wanted>(schedules: readonly T[]): T[] {
  const key = ({ workflow, cron, timezone }: Wanted) => JSON.stringify([workflow, cron, timezone])
  return [...new Map(schedules.map((one) => [key(one), one])).values()]
}
