// How dense rows are in this browser.
import { useSyncExternalStore } from 'react'

export const densities = ['comfortable', 'compact'] as const
export type Density = (typeof densities)[number]

const KEY = 'millrace-density'
const watchers = new Set<() => void>()
let chosen: Density = readDensity()

function readDensity(): Density {
  try {
    const kept = localStorage.getItem(KEY)
    return densities.find((one) => one === kept) ?? 'comfortable'
  } catch {
    return 'comfortable' // storage is forbidden here: the choice lasts as long as the page
  }
}

/** Shows what was chosen before. Once, at the start. */
export function startDensity(): void {
  document.documentElement.dataset['density'] = chosen
}

export function chooseDensity(density: Density): void {
  chosen = density
  startDensity()
  try {
    localStorage.setItem(KEY, density)
  } catch {
    // As above.
  }
  for (const watch of watchers) watch()
}

export const useDensity = (): Density =>
  useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => chosen,
  )
