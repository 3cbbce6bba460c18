// Which events a subscriber gets: what it asks for, within what it may see.
import type { Identity } from '../access/index.ts'
import type { EventFilter, Millrace, TaskEvent } from '../engine/index.ts'
import { Problem } from './problems.ts'

/** Where events come from. */
export type EventSource = Pick<Millrace, 'subscribe' | 'events' | 'resolve'>

/** Each list is met by any of its entries; all that are given must be met. */
export type Wish = {
  readonly scope?: readonly string[] | undefined
  /** By number or natural key. */
  readonly task?: readonly string[] | undefined
  readonly topics?: readonly string[] | undefined
}

export type Selection = {
  /** For the reader of events: lets through all that is wanted, and maybe more. */
  readonly filter: EventFilter
  readonly isWanted: (event: TaskEvent) => boolean
}

/** Throws `TaskNotFound` for a task that does not exist, and `forbidden` for one that the caller may not see. */
export async function toSelection(source: EventSource, wish: Wish, identity: Identity): Promise<Selection> {
  const asked = wish.task === undefined ? undefined : await Promise.all(wish.task.map((task) => source.resolve(task)))
  const tasks = await withinLimit(source, asked, identity)
  const { scope: scopes, topics: names } = wish
  return {
    filter: { ...toScopeFilter(scopes), ...toTaskFilter(tasks), ...(names === undefined ? {} : { names }) },
    isWanted: (event) =>
      (scopes === undefined || scopes.some((scope) => isWithin(event.scope, scope))) &&
      (tasks === undefined || (event.task !== null && tasks.includes(event.task))),
  }
}

/** A token that is limited to one task or node sees the events of that one alone. */
async function withinLimit(
  source: EventSource,
  asked: readonly string[] | undefined,
  { limit, name }: Identity,
): Promise<readonly string[] | undefined> {
  if (limit === null) return asked
  const own = await source.resolve(limit.to === 'node' ? `node/${limit.name}` : limit.name)
  if (asked?.some((task) => task !== own)) throw new Problem('forbidden', `${name} is limited to another task`)
  return [own]
}

const isWithin = (scope: string, pattern: string) =>
  pattern.endsWith('*') ? scope.startsWith(pattern.slice(0, -1)) : scope === pattern

function toScopeFilter(scopes: readonly string[] | undefined): EventFilter {
  const [only, ...others] = scopes ?? []
  if (only === undefined || others.length > 0) return {}
  return only.endsWith('*') ? { scopePrefix: only.slice(0, -1) } : { scope: only }
}

function toTaskFilter(tasks: readonly string[] | undefined): EventFilter {
  const [only, ...others] = tasks ?? []
  return only === undefined || others.length > 0 ? {} : { task: only }
}

const texts = new WeakMap<TaskEvent, string>()

/** The event as JSON text, made once for all who are sent it. */
export function toJson(event: TaskEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = JSON.stringify(event)
  texts.set(event, text)
  return text
}
