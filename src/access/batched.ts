type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

/**
 * Makes many small writes cheap: what comes while one round is under way goes out together in the next. A single item
 * goes out at once. `send` answers one result per item, in their order.
 */
export function batched<T, R>(send: (items: T[]) => Promise<readonly R[]>, most = 500): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = []
  let isSending = false
  const sendAll = async () => {
    isSending = true
    while (waiting.length > 0) {
      const round = waiting.slice(0, most)
      waiting = waiting.slice(most)
      try {
        const results = await send(round.map(({ item }) => item))
        for (const [i, { resolve }] of round.entries()) resolve(results[i] as R)
      } catch (error) {
        for (const { reject } of round) reject(error)
      }
    }
    isSending = false
  }
  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isSending) void sendAll()
    })
}
