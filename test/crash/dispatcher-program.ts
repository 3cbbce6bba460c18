// A dispatcher in a process of its own, for tests that kill, freeze and stop it. SIGUSR2 lets held work go on; SIGTERM
// stops the dispatcher; when work outlives that, a second SIGTERM closes the connections.
import { createPool } from '../../src/db/index.ts'
import { connect, type DispatchOptions } from '../../src/engine/index.ts'
import { crashWorkers } from './workers.ts'

export type ProgramSettings = {
  readonly databaseUrl: string
  readonly options: DispatchOptions
  /** Kinds to perform; all when left out. */
  readonly kinds?: readonly string[]
  /** Whether work that waits for the test really waits. */
  readonly isHolding: boolean
}

const settings = JSON.parse(process.argv[2] ?? '') as ProgramSettings
const say = (line: string) => void process.stdout.write(`${line}\n`)

let letGo: () => void = () => {}
const release = new Promise<void>((resolve) => {
  letGo = resolve
})
if (!settings.isHolding) letGo()
let held = 0
process.on('SIGUSR2', () => letGo())

const pool = createPool({ databaseUrl: settings.databaseUrl, max: 2 })
const millrace = await connect({ databaseUrl: settings.databaseUrl })
const workers = crashWorkers({
  pool,
  say,
  released: async () => {
    held += 1
    await release
    held -= 1
  },
}).filter((worker) => settings.kinds?.includes(worker.kind) ?? true)
const dispatcher = millrace.dispatch(workers, {
  onError: (error) => say(`error ${error.message}`),
  ...settings.options,
})

const close = () => Promise.all([millrace.close(), pool.end()]).then(() => say('closed'))
let stops = 0
process.on('SIGTERM', () => {
  stops += 1
  if (stops > 1) void close()
  else
    void dispatcher.stop().then(() => {
      say('stopped')
      if (held === 0) void close()
    })
})

await dispatcher.started
say(`ready ${dispatcher.id}`)
