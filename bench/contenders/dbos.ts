import { DBOS } from '@dbos-inc/dbos-sdk'
import { type Contender, differences, range } from './contender.ts'

/**
 * Chains and fans in the two forms DBOS offers. A *step* is a checkpointed function call inside one
 * workflow: nothing is dispatched, and no other process can take it up while the workflow runs. A *workflow*
 * of its own can be queued, watched, cancelled and taken up elsewhere, as a task can.
 */
export async function dbos(url: string, form: 'steps' | 'workflows'): Promise<Contender> {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, systemDatabasePoolSize: 20, logLevel: 'error' })
  const starts: number[] = []
  const started = async () => {
    starts.push(performance.now())
  }
  const task = DBOS.registerWorkflow(started, { name: 'task' })
  const perform = async () => {
    if (form === 'steps') return DBOS.runStep(started, { name: 'task' })
    return (await DBOS.startWorkflow(task)()).getResult()
  }

  const chain = DBOS.registerWorkflow(
    async (length: number) => {
      for (let n = 0; n < length; n++) await perform()
    },
    { name: 'chain' },
  )
  const fan = DBOS.registerWorkflow(
    async (width: number) => {
      await perform()
      // A hundred at a time: more at once only wait for the pool's connections, and time out there.
      let next = 0
      const some = async () => {
        while (next < width) {
          next += 1
          await perform()
        }
      }
      await Promise.all(range(100).map(some))
      await perform()
    },
    { name: 'fan' },
  )
  await DBOS.launch()

  return {
    prepare: async () => {},
    async chain(length) {
      await (await DBOS.startWorkflow(chain)(length)).getResult()
      return differences(starts)
    },
    async fan(width) {
      const from = performance.now()
      await (await DBOS.startWorkflow(fan)(width)).getResult()
      return (starts.at(-1) ?? Number.NaN) - from
    },
    close: () => DBOS.shutdown(),
  }
}
