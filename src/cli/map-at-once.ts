/** Maps all items, a few at a time, in order. The first error ends it: what was not begun is left. */
export async function mapAtOnce<T, R>(items: readonly T[], atOnce: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  let hasFailed = false
  const work = async () => {
    while (next < items.length && !hasFailed) {
      const at = next++
      try {
        results[at] = await map(items[at] as T)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return results
}
