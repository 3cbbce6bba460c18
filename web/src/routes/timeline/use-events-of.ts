import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { routes } from '../../api.ts'
import { useFreshWhenShown, useLive } from '../../live.ts'

/** Spans are made by the server; more often than this they are not asked for. */
const FRESH_MS = 2_000

type Asked = {
  readonly scope?: string | undefined
  readonly archive?: string | undefined
  readonly rev?: string | undefined
  readonly to?: string | undefined
}

/** Fetches a timeline again when something happens to what it shows. A time that is past does not change. */
export function useEventsOf({ scope, archive, rev, to }: Asked): void {
  const queries = useQueryClient()
  const pending = useRef<{ timer?: ReturnType<typeof setTimeout> | undefined; lastAt: number }>({ lastAt: 0 })
  const soon = () => {
    const waitMs = Math.max(0, pending.current.lastAt + FRESH_MS - Date.now())
    pending.current.timer ??= setTimeout(() => {
      pending.current = { lastAt: Date.now() }
      void queries.invalidateQueries({ queryKey: [routes.timeline.get.name] })
    }, waitMs)
  }
  const topic = archive === undefined ? (scope ?? '*') : `archive:${archive}`
  useLive(
    to === undefined ? [topic] : [],
    (events) => {
      const isOurs = archive === undefined || events.some(({ key }) => key?.startsWith(`${rev}:`))
      if (isOurs) soon()
    },
    soon,
  )
  useFreshWhenShown(to === undefined ? [routes.timeline.get.name] : [], topic)
  useEffect(() => () => clearTimeout(pending.current.timer), [])
}
