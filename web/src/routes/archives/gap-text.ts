type Gap = { readonly first: number; readonly last: number; readonly reason: 'not_announced' | 'not_planned' }

const rangeOf = ({ first, last }: Gap) => (first === last ? `r${first}` : `r${first} to r${last}`)

/** What is missing before the youngest revision, in a sentence. */
export function gapText(gap: Gap, state: string): string {
  const { first, last, reason } = gap
  const is = first === last ? 'is' : 'are'
  if (state !== 'active') return `${rangeOf(gap)} ${is} not planned: it is ${state}`
  if (reason === 'not_planned') return `${rangeOf(gap)} ${is} not planned yet`
  return `r${first} was not announced: what came after, up to r${last}, waits for it. Is a hook missing?`
}
