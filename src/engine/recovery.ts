import { setTimeout as sleep } from 'node:timers/promises'

export type RecoveryParts = {
  readonly leaseMs: number
  /** Asks the database what is held here, and hands back what nobody here knows of. */
  readonly ask: () => Promise<void>
  /** Steps are under way: what they claim is not known yet. */
  readonly isBusy: () => boolean
  /** There is nothing left to recover for. */
  readonly isOver: () => boolean
  readonly onDone: () => void
}

const LONGEST_LOOK_MS = 3_600_000

/**
 * After an answer was lost: learns from the database what is held here before anything else is claimed. The server may
 * still be at the step that was given up, and claim for us afterwards: so it is asked again a lease later, then after
 * twice that time and so on.
 */
export class Recovery {
  readonly #parts: RecoveryParts
  #isUnderWay = false
  #lookAgain: NodeJS.Timeout | undefined

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  begin(againMs = this.#parts.leaseMs): void {
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    clearTimeout(this.#lookAgain)
    void this.#untilAnswered().then(() => {
      this.#isUnderWay = false
      if (!this.#parts.isOver()) {
        this.#lookAgain = setTimeout(() => this.begin(againMs * 2), Math.min(againMs, LONGEST_LOOK_MS))
      }
      this.#parts.onDone()
    })
  }

  async #untilAnswered(): Promise<void> {
    for (let pauseMs = 50; !this.#parts.isOver(); pauseMs = Math.min(pauseMs * 2, 1000)) {
      await sleep(pauseMs * (0.5 + Math.random()))
      if (this.#parts.isBusy()) continue
      const isAnswered = await this.#parts.ask().then(
        () => true,
        () => false,
      )
      if (isAnswered) return
    }
  }

  close(): void {
    clearTimeout(this.#lookAgain)
  }
}
