type Gap = { readonly first: number; readonly last: number; readonly reason: 'not_announced' | 'not_planned' }

const rangeOf = ({ first, last }: Gap) => (first === last ? `r${first}` : `r${first} to r${last}`)

/** What is missing before the youngest revision, in a sentence. */
export function gapText(gap: Gap, state: string): string {
  const { first, last, reason } = gap
  const is = first === last ? 'is' : 'are'
  if (reason === 'not_announced') return `${rangeOf(gap)} ${is} not announced: what came after waits. Is a hook missing?`
  return state === 'active' ? `${rangeOf(gap)} ${is} not planned yet` : `${rangeOf(gap)} ${is} not planned: it is ${state}`
}
