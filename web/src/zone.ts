// In which time zone times are written.
import { useSyncExternalStore } from 'react'
import { serverZone } from './build.ts'
import { writeTimesIn } from './format.ts'

export const zones = ['mine', 'utc', 'server'] as const
export type Zone = (typeof zones)[number]

const KEY = 'millrace-zone'
const watchers = new Set<() => void>()
let chosen: Zone = readZone()

function readZone(): Zone {
  try {
    const kept = localStorage.getItem(KEY)
    return zones.find((zone) => zone === kept) ?? 'mine'
  } catch {
    return 'mine' // storage is forbidden here: the choice lasts as long as the page
  }
}

const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** The names of the zones: `Europe/Zurich`. */
export const zoneNames: Readonly<Record<Zone, string>> = { mine: ownZone, utc: 'UTC', server: serverZone ?? 'UTC' }

writeTimesIn(zoneNames[chosen])

export function chooseZone(zone: Zone): void {
  chosen = zone
  writeTimesIn(zoneNames[zone])
  try {
    localStorage.setItem(KEY, zone)
  } catch {
    // As above.
  }
  for (const watch of watchers) watch()
}

export const useZone = (): Zone =>
  useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => chosen,
  )
