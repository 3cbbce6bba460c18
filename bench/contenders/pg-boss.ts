import pg from 'pg'
import { PgBoss } from 'pg-boss'
import {
  batches,
  type Contender,
  drainClock,
  payload,
  sampleLatency,
  singly,
  startSignal,
  sustainClock,
  timed,
} from './contender.ts'
import { tuned } from './tuning.ts'

const QUEUE = 'noop'
const NOTIFIED = 'notified'

// Batches fetched without pause while they come back full, two at once so that one is fetched while the
// other is completed. Order and priority stay on, as everywhere else in this bench.
const { bulk: BULK, ...THROUGHPUT } = tuned('pg-boss', {
  batchSize: 2_000,
  localConcurrency: 2,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  bulk: 2_500,
})

export async function pgBoss(url: string): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const boss = new PgBoss({ connectionString: url, max: 10, useListenNotify: true, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()

  const addBulk = async (queue: string, count: number) => {
    for (const batch of batches(count, BULK))
      await boss.insert(
        queue,
        batch.map((n) => ({ data: payload(n) })),
      )
  }
  const nothingLeft = async () => {
    const { rows } = await pool.query("select not exists (select from pgboss.job where state < 'completed') as empty")
    return rows[0].empty as boolean
  }
  const work = (queue: string, handle: (tasks: number) => void) =>
    boss.work(queue, THROUGHPUT, async (jobs) => handle(jobs.length))

  return {
    async prepare() {
      await boss.createQueue(QUEUE)
      // A notification per insert shortens the way to an idle worker; a worker that drains does without it.
      await boss.createQueue(NOTIFIED, { notify: true })
    },
    enqueueBulk: (count) => timed(() => addBulk(QUEUE, count)),
    enqueueSingly: (count) => timed(() => singly(count, (n) => boss.send(QUEUE, payload(n)))),
    async drain(count) {
      const clock = drainClock(count)
      await work(QUEUE, (tasks) => clock.handled(tasks))
      return clock.finished(nothingLeft)
    },
    async latency(samples) {
      const signal = startSignal()
      await boss.work(NOTIFIED, { batchSize: 1, localConcurrency: 4 }, async () => signal.fire())
      return sampleLatency(samples, signal, (n) => boss.send(NOTIFIED, payload(n)))
    },
    async sustain(task) {
      const clock = sustainClock()
      await work(NOTIFIED, (tasks) => clock.handled(tasks))
      return clock.rates(task, (count) => addBulk(NOTIFIED, count))
    },
    async close() {
      await boss.stop({ graceful: true, close: true })
      await pool.end()
    },
  }
}
