// What a removal would take away, as the question before it says.

/** Of more than so many only these are asked for; it is said that there are more. */
const MOST_NAMED = 1000

/** How many nodes to ask for: one more than are named shows that there are more. */
export const removalLimit = (isChain: boolean): number => (isChain ? MOST_NAMED + 1 : 1)

export type Removal = {
  readonly objects: readonly string[]
  /** There are more nodes than objects. */
  readonly isCut: boolean
  /** `3 nodes`, `more than 1000 nodes`. */
  readonly words: string
}

type Row = { readonly id: string; readonly summary?: string | null | undefined }

export function removalOf(rows: readonly Row[]): Removal {
  const isCut = rows.length > MOST_NAMED
  const objects = rows.slice(0, MOST_NAMED).map(({ id, summary }) => `${id} ${summary ?? ''}`)
  const words = isCut
    ? `more than ${MOST_NAMED} nodes`
    : rows.length === 1
      ? `node ${rows[0]?.id}`
      : `${rows.length} nodes`
  return { objects, isCut, words }
}
