type Steady = {
  readonly shown: readonly string[]
  /** Shown and resolved. They keep their places, so that nothing below them moves. */
  readonly gone: readonly string[]
  /** Shown when somebody asks for them. */
  readonly newer: readonly string[]
  /** Everything that was shown is resolved: the list begins again with what is present. */
  readonly isFirst: boolean
}

/** What is present, in the order in which it was first shown. */
export function steady(order: readonly string[] | undefined, present: readonly string[]): Steady {
  const there = new Set(present)
  const gone = (order ?? []).filter((key) => !there.has(key))
  if (order === undefined || gone.length === order.length) return { shown: present, gone: [], newer: [], isFirst: true }
  const known = new Set(order)
  return { shown: order, gone, newer: present.filter((key) => !known.has(key)), isFirst: false }
}
