// What the tree of nodes has heard of and not asked for yet.

export type Batch = {
  /** Nodes that came: so many, from this one on. */
  readonly added: { readonly first: string; readonly count: number } | undefined
  /** Rows that may be old. */
  readonly unsure: readonly string[]
}

export class Backlog {
  #added: Batch['added']
  readonly #unsure = new Set<string>()

  get addedCount(): number {
    return this.#added?.count ?? 0
  }

  get unsureCount(): number {
    return this.#unsure.size
  }

  get isEmpty(): boolean {
    return this.#added === undefined && this.#unsure.size === 0
  }

  /** Numbers rise: those that come later stand behind the first. */
  grow(first: string, count: number): void {
    this.#added = { first: this.#added?.first ?? first, count: this.addedCount + count }
  }

  doubt(id: string): void {
    this.#unsure.add(id)
  }

  drop(id: string): void {
    this.#unsure.delete(id)
  }

  clear(): void {
    this.#added = undefined
    this.#unsure.clear()
  }

  /** Takes out all that came, and at most so many of the rows. */
  take(most: number): Batch {
    const batch = { added: this.#added, unsure: [...this.#unsure].slice(0, most) }
    this.#added = undefined
    for (const id of batch.unsure) this.#unsure.delete(id)
    return batch
  }

  /** It could not be had. */
  putBack({ added, unsure }: Batch): void {
    if (added !== undefined) this.#added = { first: added.first, count: added.count + this.addedCount }
    for (const id of unsure) this.#unsure.add(id)
  }
}
