// Overlaps too exact to be met by chance in every run: a row is locked at the very moment when another transaction would
// change it, and what is left to do then must not be lost.
import { type Command, claim, outcome, plain, type VerbName } from './commands.ts'
import type { Move } from './interleave.ts'

type Add = Extract<Command, { type: 'add' }>

const afterFirst = { ...plain, requires: [{ pick: 0, when: 'succeeded' as const }] }
const add = (...items: Add['items']): Add => ({ type: 'add', items })
const of = (session: number, command: Command): Move => ({ session, command })
const commit = (session: number): Move => ({ session, end: 'commit' })
const rollback = (session: number): Move => ({ session, end: 'rollback' })
const verb = (name: VerbName, pick: number): Command => ({ type: 'verb', name, pick, isAny: false })
const hold = (pick: number) => verb('hold', pick)

/** The first task is running; while somebody else does something, it succeeds. */
const whileItSucceeds = (other: Command, how: 'finish' | 'hop' = 'finish'): Move[] => [
  of(0, claim),
  commit(0),
  of(1, other),
  of(2, outcome(how)),
  commit(2),
  rollback(1),
]

export const scenes: [Add, Move[]][] = [
  // A task whose release has to wait, because somebody is about to hold it.
  [add(plain, afterFirst), whileItSucceeds(hold(1))],
  [add(plain, afterFirst), whileItSucceeds(hold(1), 'hop')],
  // A milestone that cannot end yet, because somebody is adding a task behind it.
  [
    add(plain, { ...afterFirst, isMilestone: true }),
    whileItSucceeds(add({ ...plain, requires: [{ pick: 1, when: 'succeeded' }] })),
  ],
  // A superseded task that cannot be canceled yet, because somebody is about to hold it.
  [add(plain, plain, { ...afterFirst, cancels: [1] }), whileItSucceeds(hold(1))],
  // A task is to wait for one that was marked as succeeded, waits for it, and is run again.
  [
    add(plain, afterFirst),
    [
      of(0, verb('succeed', 1)),
      of(0, { type: 'require', pick: 0, requires: [{ pick: 1, when: 'succeeded' }] }),
      of(0, verb('rerun', 1)),
      commit(0),
    ],
  ],
]
