import { isPassing } from '../db/index.ts'
import { LeaseLost } from './errors.ts'
import { toOutput } from './output.ts'
import { resolveRefused } from './reconcile.ts'
import {
  CanceledMeanwhile,
  type Recorder,
  recordCanceled,
  recordError,
  recordHandedBack,
  recordLater,
  recordSuccess,
} from './record.ts'
import { Context, type Run } from './run.ts'
import { parse } from './schema.ts'
import { PermanentError, toWorkError, type WorkError } from './work-error.ts'
import { isLater, isUnchanged } from './worker.ts'

export type PerformEvents = {
  readonly onLog: (run: Run, message: string, fields?: Record<string, unknown>) => void
  /** Succeeded with nothing to write beside the outcome: the caller records it with others in a batch. */
  readonly onSuccess: (run: Run, output: string | null, isUnchanged: boolean) => void
  /** The outcome has been recorded, or the task is no longer ours. */
  readonly onRecorded: (run: Run) => void
  readonly onError: (error: Error) => void
}

type Performance = { readonly at: Recorder; readonly run: Run; readonly events: PerformEvents }

/** Performs one task and sees to it that its outcome is recorded. Never throws. */
export function perform(at: Recorder, run: Run, events: PerformEvents): void {
  const performance = { at, run, events }
  let returned: unknown
  try {
    run.payload = parse(run.worker.payload, run.payload, run.worker.kind)
    returned = run.worker.work(new Context(run, events.onLog))
  } catch (thrown) {
    failed(performance, thrown)
    return
  }
  if (returned instanceof Promise) {
    returned.then(
      (value) => succeeded(performance, value),
      (thrown) => failed(performance, thrown),
    )
  } else succeeded(performance, returned)
}

function succeeded(of: Performance, value: unknown): void {
  const { at, run, events } = of
  if (isLater(value)) {
    record(of, () => recordLater(at, run, value))
    return
  }
  const isSame = isUnchanged(value)
  const result = isSame ? value.result : value
  if (run.worker.onSuccess !== undefined && run.worker.isPlain?.(result) !== true) {
    record(of, () => recordSuccess(at, run, result, isSame))
    return
  }
  let output: string | null
  try {
    output = toOutput(result)
  } catch (thrown) {
    failed(of, thrown)
    return
  }
  events.onSuccess(run, output, isSame)
}

function failed(of: Performance, thrown: unknown): void {
  const { at, run } = of
  if (run.stopped === 'canceled') record(of, () => recordCanceled(at, run, thrown))
  // Whatever is thrown after the signal is taken for obedience: the task runs again elsewhere and may fail there.
  else if (run.stopped !== undefined) record(of, () => recordHandedBack(at, run), 'bare')
  else record(of, () => recordError(at, run, toWorkError(run.worker, thrown)), 'error')
}

const LONGEST_PAUSE_MS = 5_000

/** What is being recorded: the outcome, the error that came instead, or only that neither could be. */
type Stage = 'outcome' | 'error' | 'bare'

/**
 * Records an outcome, again and again while the database is away: it is not lost as long as the lease stands. What a
 * callback throws becomes the outcome itself.
 */
function record(of: Performance, body: () => Promise<void>, stage: Stage = 'outcome', pauseMs = 50): void {
  const { at, run, events } = of
  const again = () => record(of, body, stage, Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
  const instead = (error: WorkError, next: Stage) => record(of, () => recordError(at, run, error), next)
  body()
    .then(() => events.onRecorded(run))
    .catch((error: Error) => {
      if (isPassing(error)) setTimeout(again, pauseMs * (0.5 + Math.random()))
      else if (error instanceof CanceledMeanwhile) record(of, () => recordCanceled(at, run), 'bare')
      else if (error instanceof LeaseLost) {
        resolveRefused(at, [run], events.onError)
          .then((held) => (held.length > 0 ? setTimeout(again, pauseMs) : events.onRecorded(run)))
          .catch(() => setTimeout(again, pauseMs))
      } else if (stage === 'outcome') instead(toWorkError(run.worker, error), 'error')
      else if (stage === 'error')
        instead(new PermanentError(`the error of this attempt could not be stored: ${error.message}`), 'bare')
      else {
        events.onError(error)
        events.onRecorded(run)
      }
    })
}
