import { useEffect, useMemo, useRef, useState } from 'react'
import { type Aim, aimOf, columnOf, type LoomSearch, namedIn, numberIn, OwnAddresses } from './address.ts'
import { useSettled } from './rail.tsx'
import type { Place } from './reach.ts'
import type { LoomSource } from './source.ts'

/** The revision to begin with, undefined for the newest; another one whenever somebody else changes the address. */
export type Start = { readonly number: number | undefined }

/** The focused cell, as the address names it; a walk is written there when it has come to rest. */
export function useFocus(source: LoomSource, search: LoomSearch, onSearch: (search: LoomSearch) => void) {
  const [own] = useState(() => new OwnAddresses(search))
  const [aim, setAim] = useState<Aim | undefined>(() => aimOf(search))
  const [start, setStart] = useState<Start>(() => ({ number: numberIn(search.at) }))
  const [moved, setMoved] = useState<{ readonly to: Place | undefined }>()
  const settled = useSettled(moved, 200)
  const write = (next: LoomSearch) => {
    own.write(next)
    onSearch(next)
  }
  useEffect(() => {
    if (!own.see(search)) return
    setMoved(undefined)
    setAim(aimOf(search))
    setStart({ number: numberIn(search.at) })
  }, [own, search])
  const name = (to: Place | undefined) => write({ ...without(search), ...namedIn(source.cloth, to) })
  const isLeaving = useRef(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move of the focus is written
  useEffect(() => {
    if (settled !== undefined && !isLeaving.current) name(settled.to)
  }, [settled])
  /** To be called before one goes to another page: a walk that is written later would lead back here. */
  const leave = () => {
    isLeaving.current = true
    if (moved !== undefined && moved !== settled) name(moved.to)
  }
  const move = (cell: Place | undefined) => {
    isLeaving.current = false
    setMoved({ to: cell })
    setAim(cell)
  }
  /** Without a focus the address names the revision at the top of what is in view. */
  const rest = (top: number, isNewest: boolean) => {
    const at = isNewest ? undefined : `r${top}`
    if (aim === undefined && at !== search.at) write({ ...without(search), ...(at === undefined ? {} : { at }) })
  }
  const number = aim?.number
  // Looked up at every drawing: a page that came meanwhile may have the column.
  const column = aim === undefined ? undefined : columnOf(source.cloth, aim)
  const focus = useMemo(
    () => (number === undefined || column === undefined ? undefined : { number, column }),
    [number, column],
  )
  return { focus, move, start, write, rest, leave }
}

const without = ({ columns }: LoomSearch): LoomSearch => (columns === undefined ? {} : { columns })
