import { useSyncExternalStore } from 'react'

function screenBelow(width: number): () => boolean {
  const query = typeof matchMedia === 'undefined' ? undefined : matchMedia(`(max-width: ${width}px)`)
  const watch = (onChange: () => void) => {
    query?.addEventListener('change', onChange)
    return () => query?.removeEventListener('change', onChange)
  }
  return () => useSyncExternalStore(watch, () => query?.matches ?? false)
}

/** Whether the screen is a phone's. */
export const useIsNarrow: () => boolean = screenBelow(720)

/** Whether the screen is too narrow for a table of many columns. */
export const useIsSmall: () => boolean = screenBelow(1100)
