import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker'
import pg from 'pg'
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

// The throughput settings of Graphile Worker's own performance page; README tells what was tried beside them.
const { bulk: BULK, ...THROUGHPUT } = tuned('graphile', {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  bulk: 10_000,
})

// Without a local queue a notification leads to a fetch at once, which is the shortest way to a start.
const LATENCY = { concurrentJobs: 4, maxPoolSize: 10 }

const logger = new Logger(() => () => {})

export async function graphile(url: string): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  pool.on('error', (error) => console.error(error))
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  const start = (settings: object, handle: () => void): Promise<Runner> =>
    run({
      preset: { worker: { connectionString: url, ...settings } },
      logger,
      noHandleSignals: true,
      taskList: { noop: async () => handle() },
    })
  const nothingLeft = async () => {
    const { rows } = await pool.query('select not exists (select from graphile_worker._private_jobs) as empty')
    return rows[0].empty as boolean
  }
  const addBulk = async (count: number) => {
    for (const batch of batches(count, BULK)) {
      await utils.addJobs(batch.map((n) => ({ identifier: 'noop', payload: payload(n) })))
    }
  }

  return {
    prepare: () => utils.migrate(),
    enqueueBulk: (count) => timed(() => addBulk(count)),
    enqueueSingly: (count) => timed(() => singly(count, (n) => utils.addJob('noop', payload(n)))),
    async drain(count) {
      const clock = drainClock(count)
      const runner = await start(THROUGHPUT, () => clock.handled())
      const ms = await clock.finished(nothingLeft)
      await runner.stop()
      return ms
    },
    async latency(samples) {
      const signal = startSignal()
      const runner = await start(LATENCY, signal.fire)
      const times = await sampleLatency(samples, signal, (n) => utils.addJob('noop', payload(n)))
      await runner.stop()
      return times
    },
    async sustain(task) {
      const clock = sustainClock()
      const runner = await start(THROUGHPUT, () => clock.handled())
      const rates = await clock.rates(task, addBulk)
      await runner.stop()
      return rates
    },
    async close() {
      await utils.release()
      await pool.end()
    },
  }
}
