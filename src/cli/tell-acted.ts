import { exitCodes, exitOf } from './exit.ts'
import type { Output } from './output.ts'
import { clean, count } from './render/text.ts'
import { stateText, type TaskState } from './task.ts'

export type Refusal = Error & { readonly status?: number; readonly code?: string }

/** One task and what came of it. */
export type Acted = { readonly id: string; readonly state: TaskState | null; readonly error: Refusal | undefined }

type Told = {
  /** What has happened when it is done: `canceled 3 tasks`. */
  readonly past: string
  /** What to do next, where something is left to do; `ID` stands for the task. */
  readonly next: string
}

/** Says of each task what came of it, and answers the exit code. */
export async function tellActed(output: Output, told: Told, acted: readonly Acted[]): Promise<number> {
  const good = acted.filter(({ error }) => error === undefined)
  const bad = acted.filter(({ error }) => error !== undefined)
  if (output.format === 'text') tellInWords(output, told, { good, bad })
  else await listActed(output, output.format === 'quiet' ? good : acted)
  if (bad.length === 0) return exitCodes.done
  return good.length > 0 ? exitCodes.some_failed : exitOf(bad[0]?.error)
}

function tellInWords(
  output: Output,
  told: Told,
  { good, bad }: { good: readonly Acted[]; bad: readonly Acted[] },
): void {
  // One that was refused is told as any error is.
  if (good.length === 0 && bad.length === 1) throw bad[0]?.error
  for (const { id, error } of bad) {
    output.note(`${output.errorStyle.red('✗')} ${clean(id)}: ${clean(error?.message ?? '')}`)
  }
  for (const line of sentences(told, good)) output.line(line)
}

function listActed(output: Output, acted: readonly Acted[]): Promise<void> {
  const rows = acted.map(({ id, state, error }) => {
    const { code = '', message = '' } = error ?? {}
    return { id, state, error: error === undefined ? null : { code, message } }
  })
  return output.list(
    rows,
    [
      { title: 'id', of: ({ id }) => id, importance: 'key' },
      { title: 'state', of: ({ state }) => state ?? '' },
      { title: 'error', of: ({ error }) => error?.message ?? '' },
    ],
    { id: ({ id }) => id, none: '' },
  )
}

/** What has changed, and what to do next. */
function sentences({ past, next }: Told, good: readonly Acted[]): string[] {
  // A task that runs is over when its worker has stopped: until then it was asked to.
  const isAsked = ({ state }: Acted) => past === 'canceled' && state === 'running'
  const asked = good.filter(isAsked)
  const changed = good.filter((one) => !isAsked(one))
  const [first] = changed
  const [firstAsked] = asked
  const lines: string[] = []
  if (first !== undefined) {
    const what = changed.length > 1 ? `${changed.length} tasks` : `${first.id}: ${stateText(first.state ?? 'ready')}`
    lines.push(`${past} ${what}${next === '' ? '' : `; ${next.replace('ID', first.id)}`}`)
  }
  if (firstAsked !== undefined) {
    const what = asked.length > 1 ? count(asked.length, 'task') : firstAsked.id
    lines.push(`asked ${what} to stop; watch with \`millrace watch ${firstAsked.id}\``)
  }
  return lines
}
