// Where the states of a task lie in their drawing, and how its arrows run.
import type { TaskState } from '../../tasks/task-actions.ts'

export const WIDTH = 720
export const HEIGHT = 220
export const BOX = { width: 122, height: 42 }

/** The middle of each state's box. */
export const places: Readonly<Record<TaskState, readonly [number, number]>> = {
  waiting: [70, 110],
  held: [165, 190],
  ready: [265, 110],
  delayed: [365, 28],
  running: [460, 110],
  succeeded: [650, 28],
  failed: [650, 83],
  canceled: [650, 138],
  skipped: [650, 192],
}

export type Arrow = {
  readonly path: string
  /** Where it is written how often it was gone: beside the line. */
  readonly label: { readonly x: number; readonly y: number; readonly anchor: 'start' | 'middle' | 'end' }
}

const [w, h] = [BOX.width / 2, BOX.height / 2]
/** Below the boxes of the middle row, where what has ended goes back. */
const LANE = 153
/** Beside where the arrow to an end arrives. */
const ASIDE = 13

/** Forwards from side to side, from an end back in the lane, else backwards in a bow. */
export function arrowOf(move: string): Arrow {
  const [from, to] = move.split('>') as [TaskState, TaskState]
  const [[ax, ay], [bx, by]] = [places[from], places[to]]
  if (bx > ax + w) return forwards([ax + w, ay], [bx - w - 1, by])
  if (Math.abs(bx - ax) <= w) {
    const side = by > ay ? 1 : -1
    return {
      path: `M${ax} ${ay + side * h}L${bx} ${by - side * (h + 1)}`,
      label: { x: ax + 6, y: (ay + by) / 2, anchor: 'start' },
    }
  }
  if (ax === places.succeeded[0]) return back([ax - w, ay], [bx, by + h + 1])
  if (ay > by + 20)
    return {
      path: `M${ax} ${ay - h}C${ax} ${by} ${ax} ${by} ${bx + w + 1} ${by}`,
      label: { x: ax + 6, y: (ay + by) / 2, anchor: 'start' },
    }
  if (ay < by - 20)
    return {
      path: `M${ax - w} ${ay}C${ax - w - 30} ${ay} ${bx} ${ay} ${bx} ${by - h - 1}`,
      label: { x: bx + 8, y: by - h - 14, anchor: 'start' },
    }
  const dip = Math.max(ay, by) + h + 22
  return {
    path: `M${ax} ${ay + h}C${ax} ${dip} ${bx} ${dip} ${bx} ${by + h + 1}`,
    label: { x: (ax + bx) / 2, y: dip + 6, anchor: 'middle' },
  }
}

type Point = readonly [number, number]

function forwards([x1, y1]: Point, [x2, y2]: Point): Arrow {
  const mid = (x1 + x2) / 2
  const path = `M${x1} ${y1}C${mid} ${y1} ${mid} ${y2} ${x2} ${y2}`
  if (y1 === y2) return { path, label: { x: mid - 3, y: y1 - 6, anchor: 'middle' } }
  // Near its tip, on the side from which the line does not come.
  return { path, label: { x: x2 - 8, y: y2 < y1 ? y2 - 5 : y2 + 14, anchor: 'end' } }
}

function back([x1, y]: Point, [x2, y2]: Point): Arrow {
  const y1 = y + (y < LANE ? ASIDE : -ASIDE)
  const turn = x1 - 40
  return {
    path: `M${x1} ${y1}C${x1 - 30} ${y1} ${turn + 20} ${LANE} ${turn} ${LANE}L${x2 + 20} ${LANE}C${x2} ${LANE} ${x2} ${LANE} ${x2} ${y2}`,
    label: { x: (turn + x2 + 20) / 2, y: LANE + 14, anchor: 'middle' },
  }
}
