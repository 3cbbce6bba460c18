import type { BodyAnswered, routes } from '../api/index.ts'
import { exitCodes, UsageError } from './exit.ts'
import type { Style } from './render/style.ts'
import type { Column } from './render/table.ts'
import { clean } from './render/text.ts'
import { ago, duration } from './render/time.ts'

type Tasks = (typeof routes)['tasks']
export type Task = BodyAnswered<Tasks['get']>
export type TaskSummary = BodyAnswered<Tasks['list']>['items'][number]
export type TaskState = Task['state']

type Look = {
  /** One cell wide everywhere; the word beside it says the same without colour or glyph. */
  readonly glyph: string
  readonly color: 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'blue' | 'magenta'
  readonly isFinal: boolean
}

const looks = {
  waiting: { glyph: '·', color: 'dim', isFinal: false },
  delayed: { glyph: '◔', color: 'blue', isFinal: false },
  ready: { glyph: '○', color: 'cyan', isFinal: false },
  running: { glyph: '●', color: 'cyan', isFinal: false },
  held: { glyph: '‖', color: 'yellow', isFinal: false },
  succeeded: { glyph: '✓', color: 'green', isFinal: true },
  failed: { glyph: '✗', color: 'red', isFinal: true },
  canceled: { glyph: '⊘', color: 'yellow', isFinal: true },
  skipped: { glyph: '–', color: 'dim', isFinal: true },
} as const satisfies Record<TaskState, Look>

/** What an argument ID may be, for the help. */
export const ID = 'number, natural key (My-Project@12:index) or pasted address of a task'

export const taskStates = Object.keys(looks) as TaskState[]

export const isFinal = (state: TaskState): boolean => looks[state].isFinal

export const stateText = (state: TaskState): string => `${looks[state].glyph} ${state}`

export const paintState = (style: Style, state: TaskState, text: string = stateText(state)): string =>
  style[looks[state].color](text)

/** As a person would name it: its natural key where it has one, else its scope. */
export function nameOf({ scope, key }: Pick<TaskSummary, 'scope' | 'key'>): string {
  const archive = /^archive:(.+)$/.exec(scope)?.[1]
  if (key === null) return scope
  return archive !== undefined && key.includes(':') ? `${archive}@${key}` : `${scope}/${key}`
}

/** How long it has run, or ran. */
export function ranFor({ started_at, finished_at }: TaskSummary, now: number = Date.now()): string {
  if (started_at === null) return '-'
  return duration((finished_at === null ? now : Date.parse(finished_at)) - Date.parse(started_at))
}

/** The columns of a list of tasks. */
export function taskColumns(style: Style): Column<TaskSummary>[] {
  return [
    { title: 'id', of: ({ id }) => id, align: 'right' },
    {
      title: 'state',
      of: ({ state }) => stateText(state),
      plain: ({ state }) => state,
      paint: (text, { state }) => paintState(style, state, text),
    },
    { title: 'kind', of: ({ kind }) => kind ?? '(milestone)', plain: ({ kind }) => kind ?? '', least: 10 },
    { title: 'name', of: nameOf, importance: 'name' },
    { title: 'created', of: ({ created_at }) => ago(created_at), plain: ({ created_at }) => created_at },
    { title: 'ran', of: (task) => ranFor(task), plain: ({ started_at }) => started_at ?? '', align: 'right' },
  ]
}

/**
 * The task that a text names, as the server takes it: a number, a natural key, or the address of its page in the
 * dashboard, pasted. Throws when the page is another server's: the number would mean another task here.
 */
export function refOf(text: string, serverUrl: string): string {
  if (!/^https?:\/\//i.test(text)) return text
  const refuse = (problem: string, remedy: string) => new UsageError(`${text} ${problem}`, remedy)
  if (!URL.canParse(text)) throw refuse('is not a URL', 'give the number or the key of the task')
  const { origin, pathname } = new URL(text)
  if (origin !== new URL(serverUrl).origin) {
    throw refuse(`is a page of another server than ${serverUrl}`, `add --server ${origin}`)
  }
  const [, ref] = /\/tasks\/([^/]+)/.exec(pathname) ?? []
  if (ref !== undefined) return decodeURIComponent(ref)
  const [, archive, revision, name] = /\/archives\/([^/]+)\/r\/([^/]+)\/([^/]+)/.exec(pathname) ?? []
  if (archive === undefined || revision === undefined || name === undefined) {
    throw refuse('is not the page of a task', 'give the number or the key of the task')
  }
  return `${decodeURIComponent(archive)}@${decodeURIComponent(revision)}:${decodeURIComponent(name)}`
}

/** The state with why it is so: a sentence that begins with the state is not told behind it once more. */
export function stateAndWhy(style: Style, { state, why }: { readonly state: TaskState; readonly why: string }): string {
  const sentence = clean(why)
  return `${paintState(style, state)}${sentence.startsWith(state) ? sentence.slice(state.length) : `  ${sentence}`}`
}

/** The exit code after waiting for tasks that are in these states. */
export function exitOfTasks(states: readonly TaskState[]): number {
  const bad = states.filter((state) => state !== 'succeeded' && isFinal(state))
  if (bad.length === 0) return exitCodes.done
  if (bad.length < states.length) return exitCodes.some_failed
  return bad.includes('failed') ? exitCodes.task_failed : exitCodes.task_canceled
}
