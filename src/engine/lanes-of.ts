import type { Names } from './names.ts'
import type { AnyWorker } from './worker.ts'

/** The lanes that these workers take tasks from, each with its worker: of the queues given, or else of each one's own. */
export async function lanesOf(
  names: Names,
  workers: Iterable<AnyWorker>,
  queues: readonly string[] | undefined,
): Promise<Map<number, AnyWorker>> {
  const wanted = [...workers].flatMap((worker) =>
    (queues ?? [worker.queue ?? 'default']).map((queue) => ({ queue, kind: worker.kind, worker })),
  )
  const lanes = await names.laneIds(wanted)
  return new Map(lanes.map((lane, i) => [lane, wanted[i]?.worker as AnyWorker]))
}
