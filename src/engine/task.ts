import { machine } from '../db/index.ts'

// biome-ignore format: the table is the diagram
export const taskStates = machine({
  // state     on event → next state
  waiting:   { unblock: 'ready',  delay: 'delayed', hold: 'held', skip: 'skipped', cancel: 'canceled', succeed: 'succeeded' },
  delayed:   { become_due: 'ready', block: 'waiting', hold: 'held', skip: 'skipped', cancel: 'canceled', succeed: 'succeeded' },
  ready:     { claim: 'running',  resume: 'running', block: 'waiting', hold: 'held', skip: 'skipped', cancel: 'canceled', succeed: 'succeeded' },
  running:   { succeed: 'succeeded', fail: 'failed', stop: 'canceled', delay: 'delayed', require: 'waiting', hand_back: 'ready', expire: 'ready' },
  held:      { release: 'waiting', skip: 'skipped', cancel: 'canceled', succeed: 'succeeded' },
  succeeded: { rerun: 'waiting' },
  failed:    { retry: 'waiting', succeed: 'succeeded' },
  canceled:  { retry: 'waiting', succeed: 'succeeded' },
  skipped:   { retry: 'waiting', revive: 'waiting', succeed: 'succeeded' },
})

export type TaskState = (typeof taskStates.states)[number]

/** What a task looks like from outside; identifiers are decimal strings. */
export type TaskId = string

/** What of a prerequisite a task waits for. */
export type Condition = 'succeeded' | 'failed' | 'finished'

/** The right to a task: only its holder, at this epoch, may record an outcome. */
export type Lease = { readonly task: TaskId; readonly holder: number; readonly epoch: number }

const TERMINAL: ReadonlySet<TaskState> = new Set(['succeeded', 'failed', 'canceled', 'skipped'])

/** Whether the task is over: it moves again only when someone asks for it again. */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state)
}
