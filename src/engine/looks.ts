import type { Line } from '../db/index.ts'
import { rehearse } from './dispatchers.sql.ts'
import type { Place } from './run.ts'

/** A step that is under way: it hands back what is finished, and looks for what is ready. */
export type Look = {
  readonly line: Line
  /** Tasks it may claim. */
  readonly room: number
  /** Something may have become ready after it looked: that it finds nothing means nothing. */
  isOutdated: boolean
  /** Places of tasks that came back meanwhile. It may not have seen them, and yet claim what stands behind them. */
  readonly back: Place[]
}

/** The steps of a dispatcher that are under way, each on a line of its own. */
export class Looks {
  readonly #lines: readonly Line[]
  readonly #free: Line[]
  readonly #underWay = new Set<Look>()

  constructor(lines: readonly Line[]) {
    this.#lines = lines
    this.#free = [...lines]
  }

  /** Takes the connections before the first step needs them; those behind the first connect when asked, if they cannot now. */
  async open(): Promise<void> {
    await this.#free.at(-1)?.open()
    await Promise.all(this.#lines.map((line) => line.open().catch(() => {})))
  }

  /** Has all that a step does planned before the first one needs it. What cannot be rehearsed is planned then. */
  async rehearse(of: { readonly holder: number; readonly lanes: number }): Promise<void> {
    const direct = this.#lines.filter((line) => line.isPreparing)
    await Promise.all(direct.map((line) => line.ask(rehearse, of, () => undefined).catch(() => {})))
  }

  /** Whether another one may begin. */
  get isFree(): boolean {
    return this.#free.length > 0
  }

  get size(): number {
    return this.#underWay.size
  }

  get room(): number {
    let room = 0
    for (const look of this.#underWay) room += look.room
    return room
  }

  begin(room: number): Look {
    const line = this.#free.pop()
    if (line === undefined) throw new Error('there are more steps at once than lines')
    const look = { line, room: Math.max(0, room), isOutdated: false, back: [] }
    this.#underWay.add(look)
    return look
  }

  end(look: Look): void {
    if (this.#underWay.delete(look)) this.#free.push(look.line)
  }

  /** Something may have become ready; `back` are places of tasks that had been claimed. */
  outdate(back?: readonly Place[]): void {
    for (const look of this.#underWay) {
      look.isOutdated = true
      if (back !== undefined) look.back.push(...back)
    }
  }

  close(): void {
    for (const line of this.#lines) line.close()
  }
}
