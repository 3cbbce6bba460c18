// Fibonacci numbers by requirements that are found while working: a number asks for the two below it, waits for them, and
// is then performed again. Keys see to it that each number is computed once, however many ask for it.
//
//   npx tsx examples/fibonacci.ts postgres://localhost/fibonacci 30
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { connect, defineWorker, later, type Millrace, TaskNotFound, type Worker } from '../src/index.ts'

const payload = z.object({ n: z.number().int().min(0).max(78) }) // beyond, a JavaScript number is not exact
const scope = 'fibonacci'
const keyOf = (n: number) => `fibonacci ${n}`

type Fibonacci = Worker<typeof payload, number | ReturnType<typeof later>>

export function fibonacciWorker(millrace: Millrace): Fibonacci {
  const worker: Fibonacci = defineWorker({
    kind: 'fibonacci',
    payload,
    async work({ payload: { n } }) {
      if (n < 2) return n
      const [one, two] = [await known(n - 1), await known(n - 2)]
      return one === undefined || two === undefined ? later() : one + two
    },
    async onReschedule(tx, task) {
      const below = [task.payload.n - 1, task.payload.n - 2]
      const added = await tx.addMany(below.map((n) => ({ worker, payload: { n }, scope, key: keyOf(n) })))
      await tx.require(
        task.id,
        added.map(({ id }) => id),
      )
    },
  })

  /** The number, when it has been computed. */
  async function known(n: number): Promise<number | undefined> {
    try {
      const { state, output } = await millrace.task({ scope, key: keyOf(n) })
      return state === 'succeeded' ? (output as number) : undefined
    } catch (error) {
      if (error instanceof TaskNotFound) return undefined
      throw error
    }
  }

  return worker
}

/** Asks for a number; answers the id of its task. */
export async function ask(millrace: Millrace, worker: Fibonacci, n: number): Promise<string> {
  return (await millrace.add(worker, { n }, { scope, key: keyOf(n) })).id
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [databaseUrl = '', n = '10'] = process.argv.slice(2)
  const millrace = await connect({ databaseUrl, migrate: true })
  const worker = fibonacciWorker(millrace)
  const id = await ask(millrace, worker, Number(n))
  const dispatcher = millrace.dispatch([worker])
  await dispatcher.started
  await dispatcher.idle()
  console.log((await millrace.task(id)).output)
  await millrace.close()
}
