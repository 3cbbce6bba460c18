type Steady = {
  readonly shown: readonly string[]
  /** They wait until they are asked for. */
  readonly newer: readonly string[]
  /** Nothing of the order is left: what there is can take no place away, and is shown at once. */
  readonly isFirst: boolean
}

/** What is there, in the order in which it was first shown. */
export function steady(order: readonly string[] | undefined, present: readonly string[]): Steady {
  const there = new Set(present)
  const shown = (order ?? []).filter((key) => there.has(key))
  if (shown.length === 0) return { shown: present, newer: [], isFirst: true }
  const known = new Set(shown)
  return { shown, newer: present.filter((key) => !known.has(key)), isFirst: false }
}
