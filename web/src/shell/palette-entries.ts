// What the palette offers for a text: what is at hand at once, and what the server finds a moment later.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { queryOf, routes } from '../api.ts'
import { basePath } from '../base-path.ts'
import { type Key, useKeyGroups } from '../keys.ts'
import { readRecent } from '../recent.ts'
import { places } from './places.ts'

export type Entry = {
  readonly id: string
  readonly label: string
  readonly hint?: string | undefined
  readonly run: () => void
  readonly refusal?: string | undefined
}
export type Section = { readonly title: string; readonly entries: readonly Entry[] }

const IS_KEY = /^(\d{1,19}|.+@\d+:.+|[\w:.-]+\/\S+)$/
const HAS_QUALIFIER = /(^|\s)(state|scope|kind|queue|key|id|is):/
const MOST_FOUND = 8
const MOST_ARCHIVES = 500
const PAUSE_MS = 150

/** The path of an address of this dashboard, which somebody was sent; undefined when it is something else. */
export function pathOf(text: string): string | undefined {
  const own = `${location.origin}${basePath}`
  if (text.startsWith(`${own}/`)) return text.slice(own.length)
  return /^\/(?![/\\])\S+$/.test(text) ? text : undefined
}

/** A text as it is when nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

export function useEntries(typed: string): { readonly sections: readonly Section[]; readonly isLooking: boolean } {
  const text = typed.trim()
  const settled = useSettled(text)
  const local = useLocal(text)
  const go = useGo(text)
  const found = useFound(settled)
  const isFirst = HAS_QUALIFIER.test(text) || pathOf(text) !== undefined || IS_KEY.test(text)
  const sections = isFirst ? [go, ...local, ...found.sections] : [...local, go, ...found.sections]
  return { sections: sections.filter(({ entries }) => entries.length > 0), isLooking: found.isLooking }
}

/** Where the text itself leads. */
function useGo(text: string): Section {
  const navigate = useNavigate()
  const router = useRouter()
  const path = pathOf(text)
  const entries: Entry[] = []
  if (path !== undefined) {
    entries.push({ id: 'go', label: `Go to ${path}`, run: () => router.history.push(`${basePath}${path}`) })
  } else if (IS_KEY.test(text)) {
    const run = () => void navigate({ to: '/tasks/$id', params: { id: text } })
    entries.push({ id: 'task', label: `Go to task ${text}`, run })
  }
  if (text !== '' && path === undefined) {
    const run = () => void navigate({ to: '/tasks', search: { q: text } })
    entries.push({ id: 'search', label: `Search tasks for ${text}`, run })
  }
  return { title: 'Go', entries }
}

/** Screens, actions and recent places. */
function useLocal(text: string): Section[] {
  const navigate = useNavigate()
  const router = useRouter()
  const groups = useKeyGroups()
  const isMeant = (label: string) => label.toLowerCase().includes(text.toLowerCase())
  const actions = [...groups]
    .reverse()
    .flatMap(({ title, keys }, at) =>
      keys
        .filter(({ isMove, label }) => isMove !== true && isMeant(label))
        .map((key, i) => ({ id: `action ${at} ${i}`, label: key.label, hint: hintOf(key, title), ...toRun(key) })),
    )
  const screens = places
    .filter(({ label }) => isMeant(label))
    .map(({ to, label, key }) => ({
      id: `place ${to}`,
      label,
      hint: `g ${key}`,
      run: () => void navigate({ to }),
    }))
  const recent = readRecent()
    .filter(({ title }) => isMeant(title))
    .map(({ href, title }) => ({
      id: `recent ${href}`,
      label: title,
      hint: href,
      run: () => router.history.push(`${basePath}${href}`),
    }))
  return [
    { title: 'Screens', entries: screens },
    { title: 'Recent', entries: recent.slice(0, text === '' ? 5 : MOST_FOUND) },
    { title: 'Actions', entries: actions },
  ]
}

const hintOf = ({ key, refusal }: Key, title: string) => refusal ?? key ?? title
const toRun = ({ run, refusal }: Key) => ({ run, ...(refusal === undefined ? {} : { refusal }) })

/** As it is written everywhere else: `My-Project@12:index`, or `scope/key`. */
const naturalKey = (scope: string, key: string) =>
  scope.startsWith('archive:') ? `${scope.slice('archive:'.length)}@${key}` : `${scope}/${key}`

/** What the server knows: never more than a few, however much there is. */
function useFound(text: string): { readonly sections: Section[]; readonly isLooking: boolean } {
  const navigate = useNavigate()
  const isWorthwhile = text.length > 1 && pathOf(text) === undefined
  const tasks = useQuery({
    ...queryOf(routes.tasks.list, { query: { q: text, limit: MOST_FOUND } }),
    enabled: isWorthwhile,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const archives = useQuery({
    ...queryOf(routes.archives.list, { query: { limit: MOST_ARCHIVES } }),
    enabled: text !== '',
    staleTime: 60_000,
  })
  const foundArchives = (archives.data?.items ?? [])
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    .slice(0, MOST_FOUND)
    .map(({ name, state }) => ({
      id: `archive ${name}`,
      label: name,
      hint: state,
      run: () => void navigate({ to: '/archives/$name', params: { name } }),
    }))
  const foundTasks = (isWorthwhile ? (tasks.data?.items ?? []) : []).map(({ id, key, scope, kind, state }) => ({
    id: `task ${id}`,
    label: key === null ? `${kind ?? scope} ${id}` : naturalKey(scope, key),
    hint: state,
    run: () => void navigate({ to: '/tasks/$id', params: { id } }),
  }))
  return {
    sections: [
      { title: 'Archives', entries: text === '' ? [] : foundArchives },
      { title: 'Tasks', entries: foundTasks },
    ],
    isLooking: isWorthwhile && tasks.isFetching,
  }
}
