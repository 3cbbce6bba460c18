/** A promise and what settles it. One that nobody listens to may be rejected without ending the process. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

const LONGEST_MS = 2 ** 31 - 1

/** As setTimeout, also for longer than 24 days. Answers what takes it back. */
export function after(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    timer = setTimeout(() => (left > LONGEST_MS ? wait(left - LONGEST_MS) : act()), Math.min(left, LONGEST_MS))
  }
  wait(ms)
  return () => clearTimeout(timer)
}
