// What is done to tasks from the loom, one or many: asked about where it cannot be taken back, and told what came of it.
import { useState } from 'react'
import { call, routes, useRefusal } from '../../api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { tell } from '../../parts/toast.tsx'
import { fitting, type Verb } from './choose.ts'
import type { CellState } from './cloth.ts'
import type { Place } from './reach.ts'
import type { LoomSource } from './source.ts'

export const verbWords: Readonly<
  Record<Verb, { readonly name: string; readonly done: string; readonly after: string }>
> = {
  retry: {
    name: 'Retry',
    done: 'asked again for',
    after: 'It runs again, and so does what was skipped because of it.',
  },
  rerun: { name: 'Run again', done: 'asked again for', after: 'It runs again, and then what needs it.' },
  cancel: { name: 'Cancel', done: 'canceled', after: 'What runs is stopped. What needs its success is skipped.' },
  hold: { name: 'Hold', done: 'held', after: 'It does not start until it is released.' },
  release: { name: 'Release', done: 'released', after: 'It goes on.' },
  skip: { name: 'Skip', done: 'skipped', after: 'It does not run, and what needs its success is skipped as well.' },
}

const AT_ONCE = 4
type Asked = { readonly verb: Verb; readonly cells: readonly Place[] }

export type Acts = {
  /** Why whoever is signed in may do none of it. */
  readonly refusal: string | undefined
  /** Does it with those of the cells whose state allows it, after a question where one is due. */
  readonly ask: (verb: Verb, cells: readonly Place[]) => void
  readonly dialog: React.ReactNode
}

export function useActs(name: string, source: LoomSource): Acts {
  const [asked, setAsked] = useState<Asked>()
  const refusal = useRefusal(routes.tasks.cancel)
  const nameOf = ({ number, column }: Place) => `${name}@${number}:${source.cloth.columns[column]?.name ?? ''}`
  const perform = async ({ verb, cells }: Asked) => {
    const refused = await performAll(source, verb, cells)
    const done = cells.length - refused.length
    const { done: word } = verbWords[verb]
    const [only] = cells
    if (done > 0)
      tell(`${capital(word)} ${done === 1 && cells.length === 1 && only !== undefined ? nameOf(only) : tasks(done)}`)
    const [first] = refused
    if (first !== undefined) tell(`${tasks(refused.length)} refused: ${first}`, { isError: true })
  }
  const ask = (verb: Verb, cells: readonly Place[]) => {
    const able = fitting(source.cloth, cells, verb)
    if (refusal !== undefined) tell(refusal, { isError: true })
    else if (able.length === 0) tell(`${verbWords[verb].name} is not possible in this state`, { isError: true })
    else if (able.length === 1 && !['cancel', 'skip', 'rerun'].includes(verb)) void perform({ verb, cells: able })
    else setAsked({ verb, cells: able })
  }
  const action = asked === undefined ? '' : `${verbWords[asked.verb].name} ${tasks(asked.cells.length)}`
  const dialog = asked !== undefined && (
    <Confirm
      isOpen
      title={`${action}?`}
      objects={asked.cells.map(nameOf)}
      action={action}
      onClose={() => setAsked(undefined)}
      onConfirm={() => perform(asked)}
    >
      <p>{verbWords[asked.verb].after}</p>
    </Confirm>
  )
  return { refusal, ask, dialog }
}

const tasks = (count: number) => (count === 1 ? '1 task' : `${count} tasks`)
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Answers the sentences of those that were refused. */
async function performAll(source: LoomSource, verb: Verb, cells: readonly Place[]): Promise<readonly string[]> {
  const refused: string[] = []
  const rest = [...cells]
  const next = async (): Promise<void> => {
    const cell = rest.shift()
    if (cell === undefined) return
    const id = source.cloth.task(cell.number, cell.column)
    try {
      if (id === undefined) return
      const { state } = await call(routes.tasks[verb], { params: { id }, body: {} })
      source.answered(cell, state as CellState)
    } catch (error) {
      refused.push((error as Error).message)
    }
    return next()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
  return refused
}
