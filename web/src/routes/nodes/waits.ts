// Who is waited for: kept beside the screens, so that a wait goes on when another node, or another screen, is looked at.

export type WaitsGiven = {
  /** Waits on the server for a while; answers the state in which the node has ended, undefined when it has not. */
  readonly ask: (id: string, signal: AbortSignal) => Promise<string | undefined>
  readonly onEnd: (id: string, state: string) => void
  readonly onError: (error: Error) => void
}

export class Waits {
  readonly #given: WaitsGiven
  readonly #underWay = new Map<string, AbortController>()
  readonly #watchers = new Set<() => void>()

  constructor(given: WaitsGiven) {
    this.#given = given
  }

  watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange)
    return () => this.#watchers.delete(onChange)
  }

  isOn(id: string): boolean {
    return this.#underWay.has(id)
  }

  /** Begins to wait for the end of a node, or gives it up. */
  toggle(id: string): void {
    const before = this.#underWay.get(id)
    if (before !== undefined) {
      before.abort()
      this.#end(id, before)
      return
    }
    const ending = new AbortController()
    this.#underWay.set(id, ending)
    this.#tell()
    this.#wait(id, ending.signal)
      .catch((error: Error) => {
        if (!ending.signal.aborted) this.#given.onError(error)
      })
      .finally(() => this.#end(id, ending))
  }

  async #wait(id: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const state = await this.#given.ask(id, signal)
      if (state === undefined || signal.aborted) continue
      this.#given.onEnd(id, state)
      return
    }
  }

  #end(id: string, ending: AbortController): void {
    // It may have been begun anew meanwhile.
    if (this.#underWay.get(id) !== ending) return
    this.#underWay.delete(id)
    this.#tell()
  }

  #tell(): void {
    for (const watch of this.#watchers) watch()
  }
}
