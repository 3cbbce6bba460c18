import type { Db } from '../db/index.ts'
import { runsOf } from './chunks.ts'
import { latestAttempt, measure, readMixed, readStderr, readStdout } from './output.sql.ts'
import type { OutputPiece, OutputRun, OutputSize, OutputView, ReadOptions } from './output.ts'

const PIECE_BYTES = 64 * 1024
const LARGEST_PIECE_BYTES = 1024 * 1024
const ROWS = 512 // of a command that prints little at a time, whose chunks are small

export const statements = { mixed: readMixed, stdout: readStdout, stderr: readStderr } satisfies Record<
  OutputView,
  unknown
>

type Row = Awaited<ReturnType<typeof readMixed>>[number]

/**
 * Reads a range of an attempt's output by its offset in the chosen view, at a cost that does not depend on how much
 * there is. May answer fewer bytes than asked for: go on at `next` until `isEnd`.
 */
export async function readOutput(db: Db, options: ReadOptions): Promise<OutputPiece> {
  const { task, stream = 'mixed' } = options
  const attempt = options.attempt ?? (await latestAttempt(db, { task }))?.attempt
  const start = Math.max(0, Math.floor(options.start ?? 0))
  const before = start + Math.min(Math.max(1, Math.floor(options.limit ?? PIECE_BYTES)), LARGEST_PIECE_BYTES)
  if (attempt === undefined) return { attempt, bytes: Buffer.alloc(0), runs: [], next: start, isEnd: true }
  const range = { task, attempt, from: String(start), before: String(before), limit: ROWS }
  const rows = await statements[stream](db, range)
  const parts: Buffer[] = []
  const runs: OutputRun[] = []
  let next = start
  for (const row of rows) {
    let at = Number(row.at)
    for (const { bytes, run } of partsOf(row, stream)) {
      const wanted = bytes.subarray(Math.max(0, start - at), Math.max(0, before - at))
      at += bytes.length
      if (wanted.length === 0) continue
      parts.push(wanted)
      addRun(runs, { stream: run.stream, length: wanted.length })
      next += wanted.length
    }
  }
  const size = Number(rows[0]?.size ?? start)
  return { attempt, bytes: Buffer.concat(parts), runs, next, isEnd: next >= size }
}

/** The runs of a chunk that belong to the view, with their bytes. */
export function partsOf(
  row: Pick<Row, 'stdout_length' | 'stderr_length' | 'runs' | 'bytes'>,
  stream: OutputView,
): { bytes: Buffer; run: OutputRun }[] {
  const { stdout_length: stdoutLength, stderr_length: stderrLength, runs, bytes } = row
  let at = 0
  return runsOf({ stdoutLength, stderrLength, runs, bytes }).flatMap((run) => {
    const begin = at
    at += run.length
    return stream === 'mixed' || (run.of ?? run.stream) === stream ? [{ bytes: bytes.subarray(begin, at), run }] : []
  })
}

function addRun(runs: OutputRun[], run: OutputRun): void {
  const last = runs.at(-1)
  if (last?.stream === run.stream) runs[runs.length - 1] = { ...last, length: last.length + run.length }
  else runs.push(run)
}

/** How much of an attempt's output is stored; of the latest attempt that has some when none is named. */
export async function outputSize(
  db: Db,
  { task, ...of }: { readonly task: string; readonly attempt?: number },
): Promise<OutputSize & { readonly attempt: number | undefined }> {
  const attempt = of.attempt ?? (await latestAttempt(db, { task }))?.attempt
  const found = attempt === undefined ? undefined : await measure(db, { task, attempt })
  return {
    attempt,
    mixed: Number(found?.mixed ?? 0),
    stdout: Number(found?.stdout ?? 0),
    stderr: Number(found?.stderr ?? 0),
  }
}
