import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { call, routes } from '../../api.ts'
import { useLive, useLiveState } from '../../live.ts'
import { LoomSource } from './source.ts'

/** The last moment of a name, for whoever measures: earlier ones are forgotten. */
export function mark(name: string): void {
  performance.clearMarks(name)
  performance.mark(name)
}

/** The loom of an archive, loaded by what is looked at and kept true by events. */
export function useLoom(name: string, first: number): LoomSource {
  const queries = useQueryClient()
  const [source] = useState(
    () =>
      new LoomSource({
        ask: (query) => call(routes.archives.loom, { params: { name }, query }),
        onArchive: () => void queries.invalidateQueries({ queryKey: [routes.archives.get.name] }),
        mark: (what) => mark(`loom-${what}`),
      }),
  )
  source.first = first
  useEffect(() => {
    void source.start()
    return () => source.close()
  }, [source])
  const live = useLiveState().is
  // What happened between the first page and the first moment of the stream was told to nobody.
  const isTrue = useRef(live === 'live')
  useLive(
    [`archive:${name}`],
    (events) => source.hear(events),
    () => {
      isTrue.current = true
      source.reset()
    },
  )
  useEffect(() => {
    if (live !== 'live' || isTrue.current) return
    isTrue.current = true
    source.sync()
  }, [live, source])
  useSyncExternalStore(source.watch, () => source.version)
  return source
}
