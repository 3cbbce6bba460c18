// A subscriber in a process of its own, for tests that kill it. It keeps what it was told in a file, one line for each
// batch, and goes on from the last line when it is started again.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { connect } from '../../src/engine/index.ts'

export type Line = { readonly position: string; readonly isReset: boolean; readonly ids: readonly string[] }

const [databaseUrl = '', file = ''] = process.argv.slice(2)
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
const last = lines.length === 0 ? undefined : (JSON.parse(lines.at(-1) ?? '') as Line)

const millrace = await connect({ databaseUrl, poolSize: 2, onError: () => {} })
await millrace.subscribe({ after: last?.position ?? 'oldest' }, ({ position, isReset, events }) => {
  const line: Line = { position, isReset, ids: events.map((event) => event.id) }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
})
process.stdout.write('ready\n')
