// The server's clock, learned from its answers. A Date header is true to a second; but each answer says that its second
// began before it was received and ended after it was asked for, and several such bounds together are much sharper.

export class ServerClock {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY

  /** Learns from an answer: when it was asked for, when it came (both by this machine's clock), and its Date header. */
  learn(askedAt: number, cameAt: number, date: string | null): void {
    const second = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(second)) return
    const least = second - cameAt
    const most = second + 1000 - askedAt
    const isContradiction = least > this.#most || most < this.#least
    // A clock was set meanwhile: what was known of it is worth nothing.
    this.#least = isContradiction ? least : Math.max(this.#least, least)
    this.#most = isContradiction ? most : Math.min(this.#most, most)
  }

  /** Milliseconds to add to this machine's clock. */
  get offset(): number {
    return Number.isFinite(this.#least) ? (this.#least + this.#most) / 2 : 0
  }

  now(): number {
    return Date.now() + this.offset
  }
}

export const clock: ServerClock = new ServerClock()
