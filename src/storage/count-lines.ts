import type { Db } from '../db/index.ts'
import { runsOf } from './chunks.ts'
import { lastCount, readUncounted, recordCounts } from './lines.sql.ts'
import type { OutputOf, OutputSize } from './output.ts'
import { tallyLines } from './tally-lines.ts'

const CHUNKS = 64 // 4 MiB at a time

type Counts = { readonly mixed: string | null; readonly stdout: string | null; readonly stderr: string | null }

/**
 * Line feeds of an attempt's output so far. Writers count as they store; what a release before stored without is counted
 * here, once: it is at most what is kept of one attempt.
 */
export async function countLines(db: Db, { task, attempt }: OutputOf): Promise<OutputSize> {
  const last = await lastCount(db, { task, attempt })
  if (last === undefined || last.mixed !== null) return toSize(last)
  for (;;) {
    const rows = await readUncounted(db, { task, attempt, limit: CHUNKS })
    const [first] = rows
    if (first === undefined) return toSize(await lastCount(db, { task, attempt }))
    let lines = toSize(first)
    const counted = rows.map(({ start, stdout_length: stdoutLength, stderr_length: stderrLength, runs, bytes }) => {
      const tally = tallyLines(bytes, runsOf({ stdoutLength, stderrLength, runs, bytes }), lines)
      lines = tally.lines
      return { start, ...tally }
    })
    await recordCounts(db, {
      task,
      attempt,
      starts: counted.map(({ start }) => start),
      lines: counted.map((one) => String(one.lines.mixed)),
      stdout_lines: counted.map((one) => String(one.lines.stdout)),
      stderr_lines: counted.map((one) => String(one.lines.stderr)),
      errors: counted.map(({ errorAt }) => errorAt ?? -1),
    })
  }
}

const toSize = (row: Counts | undefined): OutputSize => ({
  mixed: Number(row?.mixed ?? 0),
  stdout: Number(row?.stdout ?? 0),
  stderr: Number(row?.stderr ?? 0),
})
