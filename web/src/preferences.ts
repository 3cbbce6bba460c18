// What each person chooses for this browser, beside the theme and the keys: how dense rows are, and whose clock is shown.
import { useSyncExternalStore } from 'react'
import { setZone } from './format.ts'

export const densities = ['comfortable', 'compact'] as const
export type Density = (typeof densities)[number]

export type Preferences = {
  readonly density: Density
  /** A time zone; undefined: the browser's. */
  readonly zone: string | undefined
}

const KEY = 'millrace-preferences'
const watchers = new Set<() => void>()
let chosen: Preferences = read()

function read(): Preferences {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { density?: unknown; zone?: unknown }
    const density = densities.find((one) => one === kept.density) ?? 'comfortable'
    return { density, zone: typeof kept.zone === 'string' && isZone(kept.zone) ? kept.zone : undefined }
  } catch {
    return { density: 'comfortable', zone: undefined } // storage is forbidden here: choices last as long as the page
  }
}

/** Whether this browser knows a time zone of that name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: name })
    return true
  } catch {
    return false
  }
}

function apply(): void {
  document.documentElement.dataset['density'] = chosen.density
  setZone(chosen.zone)
  for (const watch of watchers) watch()
}

/** Shows what was chosen before. Once, at the start. */
export function startPreferences(): void {
  apply()
}

export function choose(change: Partial<{ density: Density; zone: string | undefined }>): void {
  chosen = { ...chosen, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen))
  } catch {
    // As above.
  }
  apply()
}

export const preferences = (): Preferences => chosen

export const usePreferences = (): Preferences =>
  useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => chosen,
  )
