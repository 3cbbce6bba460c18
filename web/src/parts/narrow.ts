import { useSyncExternalStore } from 'react'

const narrow = typeof matchMedia === 'undefined' ? undefined : matchMedia('(max-width: 720px)')

const watchWidth = (onChange: () => void) => {
  narrow?.addEventListener('change', onChange)
  return () => narrow?.removeEventListener('change', onChange)
}

/** Whether the screen is a phone's. */
export const useIsNarrow = (): boolean => useSyncExternalStore(watchWidth, () => narrow?.matches ?? false)
