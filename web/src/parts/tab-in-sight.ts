import { type RefObject, useEffect } from 'react'

/** Scrolls a row of tabs to the one that is open; the page stays where it is. */
export function useTabInSight(list: RefObject<HTMLElement | null>, open: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is open
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-current="page"], [aria-selected="true"]')
    if (list.current === null || !tab) return
    const [box, own] = [list.current.getBoundingClientRect(), tab.getBoundingClientRect()]
    if (own.left < box.left) list.current.scrollLeft -= box.left - own.left
    else if (own.right > box.right) list.current.scrollLeft += own.right - box.right
  }, [list, open])
}
