import { FlowProducer, Queue, Worker } from 'bullmq'
import {
  batches,
  type Contender,
  differences,
  drainClock,
  payload,
  range,
  sampleLatency,
  singly,
  startSignal,
  timed,
} from './contender.ts'
import { tuned } from './tuning.ts'

const QUEUE = 'noop'
const { concurrency: CONCURRENCY, bulk: BULK } = tuned('bullmq', { concurrency: 100, bulk: 1_000 })

type Flow = { name: string; queueName: string; data: object; children?: Flow[] }

const job = (name: string, n: number, children: Flow[] = []): Flow => ({
  name,
  queueName: QUEUE,
  data: payload(n),
  ...(children.length > 0 ? { children } : {}),
})

type Work = (concurrency: number, handle: (name: string) => unknown) => Promise<void>

export async function bullmq(url: string): Promise<Contender> {
  const { hostname, port } = new URL(url)
  const connection = { host: hostname, port: Number(port) }
  const queue = new Queue(QUEUE, { connection })
  const flows = new FlowProducer({ connection })
  const workers: Worker[] = []

  const work: Work = async (concurrency, handle) => {
    const worker = new Worker(QUEUE, async (task) => handle(task.name), { connection, concurrency })
    worker.on('error', (error) => console.error(error))
    workers.push(worker)
    await worker.waitUntilReady()
  }
  const nothingLeft = async () => {
    const counts = await queue.getJobCounts('wait', 'active', 'waiting-children')
    return Object.values(counts).every((count) => count === 0)
  }

  return {
    prepare: async () => {},
    enqueueBulk: (count) =>
      timed(async () => {
        for (const batch of batches(count, BULK)) {
          await queue.addBulk(batch.map((n) => ({ name: 'noop', data: payload(n) })))
        }
      }),
    enqueueSingly: (count) => timed(() => singly(count, (n) => queue.add('noop', payload(n)))),
    async drain(count) {
      const clock = drainClock(count)
      await work(CONCURRENCY, () => clock.handled())
      return clock.finished(nothingLeft)
    },
    async latency(samples) {
      const signal = startSignal()
      await work(4, () => signal.fire())
      return sampleLatency(samples, signal, (n) => queue.add('noop', payload(n)))
    },
    chain: (length) => chain(flows, work, length),
    fan: (width) => fan({ queue, flows, work }, width),
    async close() {
      await Promise.all(workers.map((worker) => worker.close()))
      await flows.close()
      await queue.close()
    },
  }
}

/** A flow is a tree whose parent waits for its children, so the end of the chain is the root. */
async function chain(flows: FlowProducer, work: Work, length: number): Promise<number[]> {
  let root = job('step', 0)
  for (let n = 1; n < length; n++) root = job('step', n, [root])
  await flows.add(root)
  const starts: number[] = []
  const done = startSignal()
  const ended = done.next()
  await work(4, () => {
    starts.push(performance.now())
    if (starts.length === length) done.fire()
  })
  await ended
  return differences(starts)
}

type Parts = { queue: Queue; flows: FlowProducer; work: Work }

/** A tree cannot have a common first task: the first one adds the rest, as BullMQ's guide does it. */
async function fan({ queue, flows, work }: Parts, width: number): Promise<number> {
  const last = startSignal()
  const ended = last.next()
  await work(CONCURRENCY, async (name) => {
    if (name === 'last') last.fire()
    if (name !== 'first') return
    await flows.add(
      job(
        'last',
        0,
        range(width).map((n) => job('middle', n)),
      ),
    )
  })
  const from = performance.now()
  await queue.add('first', payload(0))
  return (await ended) - from
}
