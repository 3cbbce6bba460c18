/**
 * What a system must be able to do to be measured. A contender lives in a child process that does one
 * operation and ends; what it cannot do at all, it leaves out.
 *
 * Times are taken inside the child, in milliseconds, after its connections stand.
 */
export type Contender = {
  /** Creates tables and queues in an empty store. */
  prepare(): Promise<void>
  /** Adds `count` no-op tasks in the largest useful batches; answers the time taken. */
  enqueueBulk?(count: number): Promise<number>
  /** Adds `count` tasks, each in a transaction of its own, from `PRODUCERS` callers at once. */
  enqueueSingly?(count: number): Promise<number>
  /** Adds `count` tasks of which each but the first `EDGE_WIDTH` waits for one other to succeed. */
  enqueueEdges?(count: number): Promise<number>
  /** Performs the `count` tasks in the store: from the first handler's start until none is unfinished. */
  drain?(count: number): Promise<number>
  /** Adds one task at a time to an idle worker: the times from the call of add to the handler's start. */
  latency?(samples: number): Promise<number[]>
  /** Runs tasks of which each waits for the one before: the times between the starts of neighbours. */
  chain?(length: number): Promise<number[]>
  /** One task, then `width` at once, then one: from the call that adds them to the last one's start. */
  fan?(width: number): Promise<number>
  /** The same with all edges declared before anything runs, where the contender can. */
  declaredFan?(width: number): Promise<number>
  /** `width` tasks required by one, performed by two dispatchers: from the first start to that one's start. */
  requirements?(width: number): Promise<number>
  /** Adds and drains batch after batch for a while; answers tasks per second, one figure per slice. */
  sustain?(task: Sustained): Promise<number[]>
  /** Asks for pages of tasks, the first one and those that follow: the times of the requests, by filter. */
  list?(task: Listing): Promise<Record<string, number[]>>
  close(): Promise<void>
}

export type Sustained = { seconds: number; sliceSeconds: number; batch: number }

/** What tasks can be listed by. */
export type Filter = {
  state?: string[]
  scope?: string
  scopePrefix?: string
  kind?: string
  queue?: string
  creator?: string
  text?: string
}
export type Listing = { filters: Record<string, Filter>; samples: number }

export type Operation = Exclude<keyof Contender, 'close'>

export const PRODUCERS = 8
export const EDGE_WIDTH = 1_000

const PADDING = 'x'.repeat(100)

export type Payload = { n: number; text: string }

/** About 120 bytes of JSON, the same for everyone. */
export function payload(n: number): Payload {
  return { n, text: PADDING }
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Cuts 0..count-1 into consecutive batches. */
export function batches(count: number, size: number): number[][] {
  const all: number[][] = []
  for (let from = 0; from < count; from += size) {
    all.push(range(Math.min(size, count - from)).map((n) => from + n))
  }
  return all
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Calls `add` for 0..count-1 from `PRODUCERS` loops, each waiting for its own last call. */
export async function singly(count: number, add: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const producer = async () => {
    while (next < count) await add(next++)
  }
  await Promise.all(range(PRODUCERS).map(producer))
}

/**
 * Asks until the answer is yes, and answers when that was asked: what is true of the store when a question comes is not
 * later because the question takes long, as it does where much is kept. Used for the flush after the last handler.
 */
async function askedUntil(isSo: () => Promise<boolean>): Promise<number> {
  for (;;) {
    const askedAt = performance.now()
    if (await isSo()) return askedAt
    await pause(1)
  }
}

/**
 * Measures a drain: `handled` is what the handler calls, `finished` waits until `count` handlers have run
 * and then until the store itself says that nothing is unfinished, because a contender that batches its
 * completions has not finished a task when its handler has returned.
 */
export function drainClock(count: number) {
  let seen = 0
  let startedAt = 0
  let allHandled = () => {}
  const everything = new Promise<void>((resolve) => {
    allHandled = resolve
  })
  return {
    handled(tasks = 1): void {
      if (seen === 0) startedAt = performance.now()
      seen += tasks
      if (seen >= count) allHandled()
    },
    async finished(nothingLeft: () => Promise<boolean>): Promise<number> {
      await everything
      return (await askedUntil(nothingLeft)) - startedAt
    },
  }
}

/** One waiting place for the start of one task at a time. */
export function startSignal() {
  let resolve: (at: number) => void = () => {}
  return {
    next: () =>
      new Promise<number>((r) => {
        resolve = r
      }),
    fire: () => resolve(performance.now()),
  }
}

/** Adds a task to an idle worker again and again; `add` must lead to `signal.fire()` in the handler. */
export async function sampleLatency(
  samples: number,
  signal: ReturnType<typeof startSignal>,
  add: (n: number) => Promise<unknown>,
): Promise<number[]> {
  const warmUp = 20
  const times: number[] = []
  for (let n = 0; n < samples + warmUp; n++) {
    // Long enough for every contender to have fallen asleep, of uneven length so that no poll falls into step.
    await pause(20 + Math.random() * 20)
    const started = signal.next()
    const from = performance.now()
    const added = add(n)
    const at = await started
    await added
    if (n >= warmUp) times.push(at - from)
  }
  return times
}

/**
 * Measures adding and performing batch after batch. The end of a batch is told by the handlers and not asked of
 * the store: while a snapshot is held, that question would walk over every row that was ever finished.
 */
export function sustainClock() {
  let left = 0
  let batchHandled = () => {}
  const perform = async (count: number, add: (count: number) => Promise<unknown>) => {
    left = count
    const handled = new Promise<void>((resolve) => {
      batchHandled = resolve
    })
    await Promise.all([add(count), handled])
  }
  return {
    handled(tasks = 1): void {
      left -= tasks
      if (left === 0) batchHandled()
    },
    async rates(task: Sustained, add: (count: number) => Promise<unknown>): Promise<number[]> {
      const rates: number[] = []
      const end = performance.now() + task.seconds * 1000
      while (performance.now() < end) {
        const from = performance.now()
        let finished = 0
        while (performance.now() < from + task.sliceSeconds * 1000) {
          await perform(task.batch, add)
          finished += task.batch
        }
        rates.push((finished / (performance.now() - from)) * 1000)
      }
      return rates
    },
  }
}

export function differences(times: number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? time))
}
