// Which build of the dashboard this page is, and whether the server has another by now.
import { useSyncExternalStore } from 'react'
import { basePath } from './base-path.ts'

const factOf = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name="millrace-${name}"]`)?.content ?? undefined

/** The server's release, as it was when the page was loaded. */
export const serverVersion: string | undefined = factOf('version')
/** The time zone that the server has. */
export const serverZone: string | undefined = factOf('zone')
const ownBuild = factOf('build')

/** Whether the server shows another page than this one. False when it does not answer: then nothing is known. */
export async function isOtherBuild(): Promise<boolean> {
  try {
    const response = await fetch(`${basePath}/`, { headers: { accept: 'text/html' }, cache: 'no-cache' })
    const build = /name="millrace-build" content="([^"]*)"/.exec(await response.text())?.[1]
    return response.ok && build !== undefined && ownBuild !== undefined && build !== ownBuild
  } catch {
    return false
  }
}

const watchers = new Set<() => void>()
let isUpdated = false

/** Looks whether there is another build, and says so from then on. */
export async function lookForUpdate(): Promise<void> {
  if (isUpdated || !(await isOtherBuild())) return
  isUpdated = true
  for (const watch of watchers) watch()
}

export const useIsUpdated = (): boolean =>
  useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => isUpdated,
  )
