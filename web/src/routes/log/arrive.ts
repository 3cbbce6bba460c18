// A jump to a line is done when the line is seen, not when it was asked for: until then whatever moves the box, but for the
// person, does not count. A page that is still being put together moves it, and so may the browser.
import type { Virtualizer } from '@tanstack/react-virtual'

const LONGEST_MS = 3_000
const TOUCHES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

type Goal = {
  /** Its place among the rows. */
  readonly row: number
  readonly isDrawn: () => boolean
}

/** Goes to a row, and goes again until it is there and drawn, or somebody touches the page. Answers how to end it. */
export function arriveAt(virtual: Virtualizer<HTMLDivElement, Element>, box: HTMLElement, goal: Goal): () => void {
  const begunAt = performance.now()
  const go = () => virtual.scrollToIndex(goal.row, { align: 'center' })
  const look = () => {
    const { startIndex, endIndex } = virtual.range ?? { startIndex: 0, endIndex: -1 }
    // By the box itself, too: what is known of it follows by an event.
    const isKnown = Math.abs((virtual.scrollOffset ?? 0) - box.scrollTop) < 2
    const isThere = isKnown && goal.row >= startIndex && goal.row <= endIndex
    frame = requestAnimationFrame(look)
    if ((isThere && goal.isDrawn()) || performance.now() - begunAt > LONGEST_MS) end()
    else if (isKnown && !isThere) go()
  }
  let frame = requestAnimationFrame(look)
  const end = () => {
    cancelAnimationFrame(frame)
    for (const touch of TOUCHES) removeEventListener(touch, end, true)
  }
  for (const touch of TOUCHES) addEventListener(touch, end, { capture: true, passive: true })
  go()
  return end
}
