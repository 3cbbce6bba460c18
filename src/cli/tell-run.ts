import type { Output } from './output.ts'
import { clean, count } from './render/text.ts'

type Planned = {
  readonly archive: string
  readonly rev: number
  readonly run: string
  readonly tasks: readonly { readonly id: string; readonly key: string }[]
}

/** Says which tasks a run has, and how to follow it. */
export function tellRun(output: Output, planned: Planned): void {
  const { archive, rev, run, tasks } = planned
  const told = () => [
    `run ${clean(run)} of ${clean(archive)} at revision ${rev}: ${count(tasks.length, 'task')}`,
    ...tasks.map(({ id, key }) => `  ${id}  ${clean(key)}`),
  ]
  const ids = tasks.map(({ id }) => id)
  output.one(planned, told, ids)
  output.note(`watch with \`millrace watch ${ids.join(' ')}\``)
}
