/** The parts of a running program, started one after another and stopped in the reverse order. */
export class Parts {
  readonly #stops: { name: string; stop(): Promise<void> }[] = []
  readonly #onError: (name: string, error: unknown) => void

  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError
  }

  /** Takes a part that has started; `stop` is called when its turn comes. */
  add(name: string, stop: () => Promise<void>): void {
    this.#stops.push({ name, stop })
  }

  /** Stops all parts, the last one first. One that throws is reported and does not keep the others running. */
  async stop(): Promise<void> {
    for (let part = this.#stops.pop(); part !== undefined; part = this.#stops.pop()) {
      await part.stop().catch((error: unknown) => this.#onError(part?.name ?? '', error))
    }
  }
}
