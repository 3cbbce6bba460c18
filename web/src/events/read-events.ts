// Events from the newest backwards, and all of them for a file. The server reads them forwards from a position, so what
// lies before one is found by windows that grow when they hold too little.
import { call, open, routes, ServerRefused, textOf } from '../api.ts'
import { type Json, memberOf, readJson } from '../json.ts'
import type { LiveEvent } from '../live.ts'

export type EventFilter = {
  readonly scope?: string | undefined
  readonly topics?: string | undefined
  readonly task?: string | undefined
}

export type Earlier = {
  /** The newest first. */
  readonly events: readonly LiveEvent[]
  /** Up to here was looked; undefined: there is nothing before that is kept. */
  readonly before: number | undefined
}

const WANTED = 100
const WINDOW = 500
const MOST_WINDOWS = 6
const PAGE = 1_000

const given = ({ scope, topics, task }: EventFilter) => ({
  ...(scope === undefined ? {} : { scope }),
  ...(topics === undefined ? {} : { topics }),
  ...(task === undefined ? {} : { task }),
})

/** The place in the line of events that is the present one: a stream says it first. */
export async function readPosition(signal: AbortSignal): Promise<number> {
  const ended = new AbortController()
  const response = await open(
    routes.events.stream,
    {},
    { signal: AbortSignal.any([signal, ended.signal]), headers: { accept: 'text/event-stream' } },
  )
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      text += decoder.decode(value, { stream: true })
      const position = /"position":"(\d+)"/.exec(text)?.[1]
      if (position !== undefined) return Number(position)
      if (done) return 0
    }
  } finally {
    ended.abort()
  }
}

/** Events up to a position, about a hundred of them, the newest first. */
export async function readEarlier(filter: EventFilter, before: number, signal: AbortSignal): Promise<Earlier> {
  let found: LiveEvent[] = []
  let end = before
  for (let i = 0; i < MOST_WINDOWS; i++) {
    const start = Math.max(0, end - WINDOW * 4 ** i)
    const { events, isOldest } = await readWindow(filter, { start, end }, signal)
    found = [...found, ...events.toReversed()]
    end = start
    if (isOldest || start === 0) return { events: found, before: undefined }
    if (found.length >= WANTED) break
  }
  return { events: found, before: end }
}

async function readWindow(filter: EventFilter, { start, end }: { start: number; end: number }, signal: AbortSignal) {
  const events: LiveEvent[] = []
  let after: string | undefined = String(start)
  let isOldest = false
  while (after !== undefined) {
    const query: EventFilter & { after: string; limit: number } = { ...filter, after, limit: PAGE }
    const page: Awaited<ReturnType<typeof pageOf>> | 'gone' = await pageOf(query, signal).catch((error) => {
      if (error instanceof ServerRefused && error.code === 'position_gone' && !isOldest) return 'gone'
      throw error
    })
    if (page === 'gone') {
      isOldest = true
      after = 'oldest'
      continue
    }
    events.push(...page.items.filter(({ id }) => Number(id) <= end))
    after = page.next_cursor !== null && Number(page.next_cursor) < end ? page.next_cursor : undefined
  }
  return { events, isOldest }
}

const pageOf = (query: EventFilter & { after: string; limit: number }, signal: AbortSignal) =>
  call(
    routes.events.stream,
    { query: { ...given(query), after: query.after, limit: query.limit } },
    { signal, headers: { accept: 'application/json' } },
  )

const MOST_EXPORTED = 100_000

/** Every event that is kept and fits, one to a line, exactly as it was sent. */
export async function exportEvents(
  filter: EventFilter,
  onProgress: (count: number) => void,
): Promise<{ text: string; count: number; isCut: boolean }> {
  const lines: string[] = []
  let after: string | null = 'oldest'
  const { signal } = new AbortController()
  while (after !== null && lines.length < MOST_EXPORTED) {
    const page: Awaited<ReturnType<typeof pageOf>> = await pageOf({ ...filter, after, limit: PAGE }, signal)
    const items = memberOf(readJson(textOf(page)), 'items')
    if (items?.is === 'array') lines.push(...items.items.map(compact))
    after = page.next_cursor
    onProgress(lines.length)
  }
  return { text: lines.map((line) => `${line}\n`).join(''), count: lines.length, isCut: after !== null }
}

/** On one line, with every number as it was. */
export function compact(json: Json): string {
  if (json.is === 'string') return JSON.stringify(json.value)
  if (json.is === 'literal') return json.text
  if (json.is === 'array') return `[${json.items.map(compact).join(',')}]`
  return `{${json.members.map(([key, value]) => `${JSON.stringify(key)}:${compact(value)}`).join(',')}}`
}

/** Lets the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
