type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

export type Rounds = {
  /** Items of a round at most. */
  readonly most?: number
  /** After so long a round is not waited for any more: the next one goes out beside it. */
  readonly slowMs?: number
  /** Rounds under way at most. */
  readonly atOnce?: number
}

/**
 * Makes many small writes cheap: what comes while one round is under way goes out together in the next. A single item
 * goes out at once, and a round that hangs holds up only its own items. `send` answers one result per item, in their
 * order; it must end by itself.
 */
export function batched<T, R>(
  send: (items: T[]) => Promise<readonly R[]>,
  { most = 500, slowMs = 100, atOnce = 4 }: Rounds = {},
): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = []
  let underWay = 0
  let awaited: object | undefined

  const next = () => {
    if (waiting.length === 0 || awaited !== undefined || underWay === atOnce) return
    const round = waiting.slice(0, most)
    waiting = waiting.slice(most)
    awaited = round
    underWay += 1
    const leave = () => {
      if (awaited === round) awaited = undefined
      next()
    }
    const timer = setTimeout(leave, slowMs)
    void sendRound(round).then(() => {
      clearTimeout(timer)
      underWay -= 1
      leave()
    })
  }
  const sendRound = async (round: Waiting<T, R>[]) => {
    try {
      const results = await send(round.map(({ item }) => item))
      for (const [i, { resolve }] of round.entries()) resolve(results[i] as R)
    } catch (error) {
      for (const { reject } of round) reject(error)
    }
  }
  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      next()
    })
}
