import type { Operation } from '../contenders/contender.ts'
import { best, type Claim, figures, freshStore, perSecond, ratioBar } from '../harness/bench.ts'
import { settle } from '../harness/settle.ts'

const BULK = 'in bulk'
const SINGLY = 'one per transaction'

export const enqueue: Claim = {
  name: 'enqueue',
  about: 'enqueue in bulk, and one per transaction from eight callers',
  async measure(bench) {
    const found = figures()
    const ways: [string, Operation, number][] = [
      [BULK, 'enqueueBulk', bench.sizes.bulk],
      [SINGLY, 'enqueueSingly', bench.sizes.singly],
    ]
    for (let round = 1; round <= bench.rounds; round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      for (const contender of ['graphile', 'pg-boss', 'millrace', 'bullmq'].filter(bench.takesPart)) {
        for (const [what, operation, count] of ways) {
          const url = await freshStore(bench, contender)
          await settle(bench, url)
          const added = await bench.perform<number>({ contender, url, operation, argument: count })
          found.note(contender, what, 'tasks/s', perSecond(count, added.value))
        }
      }
    }
    const ratio = (what: string, peers: string[]) =>
      found.of('millrace', what) / best(peers.map((peer) => found.of(peer, what)))
    const onPostgres = ['graphile', 'pg-boss']
    return {
      claim: enqueue.about,
      rows: found.rows,
      verdicts: [
        ratioBar('in bulk >= 1.0 x the best peer', ratio(BULK, [...onPostgres, 'bullmq']), { atLeast: 1 }),
        ratioBar('one per transaction >= 1.0 x the best peer that has transactions', ratio(SINGLY, onPostgres), {
          atLeast: 1,
        }),
      ],
      notes: ['BullMQ has no transactions and waits for no disk: its second figure is shown and not in the bar.'],
    }
  },
}
