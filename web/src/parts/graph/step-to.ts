import type { Point } from './lay-out.ts'

export type Way = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

/** How far to the side counts as much as how far ahead; more, so that a step goes straight where it can. */
const ASIDE = 2.5

/** The node that an arrow leads to: the nearest one that way. Undefined: there is none. */
export function stepTo(places: Readonly<Record<string, Point>>, from: string, way: Way): string | undefined {
  const here = places[from]
  if (here === undefined) return undefined
  const isAcross = way === 'ArrowLeft' || way === 'ArrowRight'
  const sign = way === 'ArrowRight' || way === 'ArrowDown' ? 1 : -1
  let best: { readonly id: string; readonly cost: number } | undefined
  for (const [id, { x, y }] of Object.entries(places)) {
    const [dx, dy] = [x - here.x, y - here.y]
    const ahead = (isAcross ? dx : dy) * sign
    if (ahead <= 1) continue
    const cost = ahead + Math.abs(isAcross ? dy : dx) * ASIDE
    if (best === undefined || cost < best.cost) best = { id, cost }
  }
  return best?.id
}
