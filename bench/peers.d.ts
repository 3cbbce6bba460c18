// The little of the peers that the bench uses, so that checking the types of this repository does not need
// the peers to be installed. An ambient declaration goes before the package's own types.

declare module 'graphile-worker' {
  export class Logger {
    constructor(factory: () => () => void)
  }
  export type Runner = { stop(): Promise<void> }
  type Job = { identifier: string; payload: unknown }
  export function makeWorkerUtils(options: { pgPool: unknown; logger: Logger }): Promise<{
    migrate(): Promise<void>
    addJob(identifier: string, payload: unknown): Promise<unknown>
    addJobs(jobs: Job[]): Promise<unknown>
    release(): Promise<void>
  }>
  export function run(options: {
    preset: { worker: object }
    logger: Logger
    noHandleSignals: boolean
    taskList: Record<string, (payload: unknown) => Promise<void>>
  }): Promise<Runner>
}

declare module 'pg-boss' {
  type Job = { id: string; data: unknown }
  export class PgBoss {
    constructor(options: object)
    on(event: 'error', listener: (error: Error) => void): void
    start(): Promise<void>
    stop(options: object): Promise<void>
    createQueue(name: string, options?: object): Promise<void>
    insert(name: string, jobs: { data: object }[]): Promise<unknown>
    send(name: string, data: object): Promise<unknown>
    fetch(name: string, options: object): Promise<Job[]>
    complete(name: string, ids: string[]): Promise<unknown>
    work(name: string, options: object, handler: (jobs: Job[]) => Promise<void>): Promise<string>
  }
}

declare module 'bullmq' {
  type Connection = { host: string; port: number }
  type Job = { name: string; data: { n: number } }
  type Flow = { name: string; queueName: string; data: object; children?: Flow[] }
  export class Queue {
    constructor(name: string, options: { connection: Connection })
    add(name: string, data: object): Promise<unknown>
    addBulk(jobs: { name: string; data: object }[]): Promise<unknown>
    getJobCounts(...states: string[]): Promise<Record<string, number>>
    close(): Promise<void>
  }
  export class Worker {
    constructor(name: string, handler: (job: Job) => Promise<unknown>, options: object)
    on(event: 'error', listener: (error: Error) => void): void
    waitUntilReady(): Promise<unknown>
    close(): Promise<void>
  }
  export class FlowProducer {
    constructor(options: { connection: Connection })
    add(flow: Flow): Promise<unknown>
    close(): Promise<void>
  }
}

declare module '@dbos-inc/dbos-sdk' {
  type Handle = { getResult(): Promise<unknown> }
  export const DBOS: {
    setConfig(options: object): void
    launch(): Promise<void>
    shutdown(): Promise<void>
    registerWorkflow<A extends unknown[]>(
      work: (...args: A) => Promise<unknown>,
      options: { name: string },
    ): (...args: A) => Promise<unknown>
    registerQueue(name: string, options?: object): Promise<unknown>
    runStep(work: () => Promise<unknown>, options: { name: string }): Promise<unknown>
    startWorkflow<A extends unknown[]>(
      workflow: (...args: A) => Promise<unknown>,
      options?: { queueName?: string },
    ): (...args: A) => Promise<Handle>
  }
}
