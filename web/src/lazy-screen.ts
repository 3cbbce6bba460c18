// Screens are loaded when they are first shown. When one cannot be, the server is away, or it has another build whose
// files have other names: then the page is loaded anew, which shows the same place.
import { lazyRouteComponent } from '@tanstack/react-router'
import { isOtherBuild } from './build.ts'

/** A part of the dashboard could not be loaded. */
class ScreenMissing extends Error {
  readonly code = 'screen_missing'
  readonly remedy = 'see whether the server runs and can be reached, and load the page again'
  constructor(cause: unknown) {
    super('this part of the dashboard could not be loaded', { cause })
  }
}

async function reloadOrThrow(cause: unknown): Promise<never> {
  if (!(await isOtherBuild())) throw new ScreenMissing(cause)
  location.reload()
  return new Promise<never>(() => {})
}

export const lazyScreen: typeof lazyRouteComponent = (load, name) => {
  const loadOrReload = () => load().catch(reloadOrThrow)
  return lazyRouteComponent(loadOrReload as typeof load, name)
}

export const isScreenMissing = (error: unknown): boolean => error instanceof ScreenMissing
