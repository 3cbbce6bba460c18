// What can be done to tasks: in which states, and what it is called. The server looks again.
import { type BodyAnswered, routes } from '../api.ts'

export type TaskState = BodyAnswered<typeof routes.tasks.get>['state']
export type TaskVerb = 'retry' | 'rerun' | 'cancel' | 'hold' | 'release' | 'skip'

export type TaskAction = {
  readonly verb: TaskVerb
  readonly label: string
  readonly key?: string
  readonly from: readonly TaskState[]
  /** Which tasks it is for, in a sentence. */
  readonly rule: string
  /** What will be, for the question before. */
  readonly effect: string
  readonly done: string
  /** Can be taken back by another action, so it does not ask. */
  readonly isMild?: boolean
}

export const taskActions: readonly TaskAction[] = [
  {
    verb: 'retry',
    label: 'Retry',
    key: 'r',
    from: ['failed', 'canceled', 'skipped'],
    rule: 'Only what failed, was canceled or skipped is retried.',
    effect: 'It runs again, and then what was skipped because of it. Its attempts and logs are kept.',
    done: 'is asked for again',
  },
  {
    verb: 'rerun',
    label: 'Run again',
    from: ['succeeded'],
    rule: 'Only what succeeded is run again; what failed is retried.',
    effect: 'It runs again, and after it everything that needs it.',
    done: 'runs again, and then what needs it',
  },
  {
    verb: 'cancel',
    label: 'Cancel',
    key: 'c',
    from: ['waiting', 'delayed', 'ready', 'held', 'running'],
    rule: 'It is over already.',
    effect: 'What has not started ends at once, and what runs is stopped. What needs its success is skipped.',
    done: 'is canceled',
  },
  {
    verb: 'hold',
    label: 'Hold',
    from: ['waiting', 'delayed', 'ready'],
    rule: 'Only what has not started can be held.',
    effect: 'It does not start until it is released.',
    done: 'is held',
    isMild: true,
  },
  {
    verb: 'release',
    label: 'Release',
    from: ['held'],
    rule: 'It is not held.',
    effect: 'It goes on.',
    done: 'is released',
    isMild: true,
  },
  {
    verb: 'skip',
    label: 'Skip',
    from: ['waiting', 'delayed', 'ready', 'held'],
    rule: 'Only what has not started can be skipped.',
    effect: 'It does not run, and what needs its success is skipped, too.',
    done: 'is skipped',
  },
]

/** The routes for one task, and for all that a search finds. */
export const routesOf = (verb: TaskVerb) => ({ one: routes.tasks[verb], many: routes.tasks[`${verb}Many`] })

/** Why the state of a task does not allow it; undefined when it does. */
export function refusalOf({ from, rule }: TaskAction, state: TaskState): string | undefined {
  return from.includes(state) ? undefined : `It is ${state}. ${rule}`
}
