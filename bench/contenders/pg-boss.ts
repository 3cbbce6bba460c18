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
  sustainRate,
  timed,
  until,
} from './contender.ts'

const QUEUE = 'noop'
const BULK = Number(process.env['PGBOSS_BULK'] ?? 10_000) // 1,000 to 100,000 tried, see README

// Batches fetched without pause while they come back full, two at once so that one is fetched while the
// other is completed. Order and priority stay on, as everywhere else in this bench.
const THROUGHPUT = {
  batchSize: Number(process.env['PGBOSS_BATCH'] ?? 1_000),
  localConcurrency: Number(process.env['PGBOSS_LOCAL'] ?? 2),
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
}

export async function pgBoss(url: string): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const boss = new PgBoss({ connectionString: url, max: 10, useListenNotify: true, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()

  const addBulk = async (count: number) => {
    for (const batch of batches(count, BULK))
      await boss.insert(
        QUEUE,
        batch.map((n) => ({ data: payload(n) })),
      )
  }
  const nothingLeft = async () => {
    const { rows } = await pool.query("select not exists (select from pgboss.job where state < 'completed') as empty")
    return rows[0].empty as boolean
  }
  const work = (settings: object, handle: (tasks: number) => void) =>
    boss.work(QUEUE, settings, async (jobs) => handle(jobs.length))

  return {
    // A notification per insert is needed for the idle latency; the throughput figures do without it.
    prepare: () => boss.createQueue(QUEUE, { partition: true }),
    enqueueBulk: (count) => timed(() => addBulk(count)),
    enqueueSingly: (count) => timed(() => singly(count, (n) => boss.send(QUEUE, payload(n)))),
    async drain(count) {
      const clock = drainClock(count)
      await work(THROUGHPUT, clock.handled)
      return clock.finished(nothingLeft)
    },
    async latency(samples) {
      const queue = 'idle'
      await boss.createQueue(queue, { notify: true })
      const signal = startSignal()
      await boss.work(queue, { batchSize: 1, localConcurrency: 4 }, async () => signal.fire())
      return sampleLatency(samples, signal, (n) => boss.send(queue, payload(n)))
    },
    async sustain(task) {
      // The batch must be a multiple of the fetched batches: a short fetch would end in a polling pause.
      await work({ ...THROUGHPUT, pollingIntervalSeconds: 0.5 }, () => {})
      return sustainRate(task, async (count) => {
        await addBulk(count)
        await until(nothingLeft)
      })
    },
    async close() {
      await boss.stop({ graceful: true, close: true })
      await pool.end()
    },
  }
}
