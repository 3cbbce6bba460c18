// Which pages to ask for. Pages lie on a grid of a hundred numbers, so that each revision is asked for once, from
// wherever one comes; what is loaded or on its way is left out.

export const PAGE = 100
/** So many rows are kept; further ones are forgotten, the farthest from what is looked at first. */
export const MOST_ROWS = 10_000

export type Stretch = { readonly first: number; readonly last: number }

/** The stretches that are missing for a window of revisions, at most a page each. */
export function missing(
  wanted: Stretch,
  bounds: Stretch,
  isThere: (number: number) => boolean,
  page = PAGE,
): readonly Stretch[] {
  const found: Stretch[] = []
  const last = Math.min(wanted.last, bounds.last)
  const first = Math.max(wanted.first, bounds.first)
  for (let at = Math.ceil(first / page); at <= Math.ceil(last / page); at += 1) {
    const stretch = holes((at - 1) * page + 1, at * page, bounds, isThere)
    if (stretch !== undefined && stretch.first <= last && stretch.last >= first) found.push(stretch)
  }
  return found
}

function holes(from: number, to: number, bounds: Stretch, isThere: (number: number) => boolean): Stretch | undefined {
  let first = Math.max(from, bounds.first)
  let last = Math.min(to, bounds.last)
  while (first <= last && isThere(first)) first += 1
  while (last >= first && isThere(last)) last -= 1
  return first > last ? undefined : { first, last }
}

/** Numbers next to each other, as stretches of at most a page: for rows to be fetched again. */
export function stretchesOf(numbers: Iterable<number>, page = PAGE): readonly Stretch[] {
  const found: { first: number; last: number }[] = []
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const open = found.at(-1)
    if (open !== undefined && number - open.first < page && number - open.last <= 10) open.last = number
    else found.push({ first: number, last: number })
  }
  return found
}

/** Which loaded rows to keep around what is looked at: as many as there is room for, the nearest. */
export function nearest(count: number, around: Stretch, most = MOST_ROWS): Stretch | undefined {
  if (count <= most) return undefined
  const reach = Math.floor((most - (around.last - around.first)) / 2)
  return { first: around.first - reach, last: around.last + reach }
}
