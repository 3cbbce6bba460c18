/** A signal that aborts with another, and with the error that `late` makes when the time is over. */
export function withTimeout(
  signal: AbortSignal,
  ms: number | undefined,
  late: () => Error,
): Disposable & { signal: AbortSignal } {
  if (ms === undefined) return { signal, [Symbol.dispose]: () => {} }
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(late()), ms)
  return { signal: AbortSignal.any([signal, controller.signal]), [Symbol.dispose]: () => clearTimeout(timer) }
}
