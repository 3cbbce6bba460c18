// A dispatcher that keeps the index of one archive, for tests that kill it.
import { createArchiveIndexWorker } from '../../src/archives/index.ts'
import { createPool } from '../../src/db/index.ts'
import { connect } from '../../src/engine/index.ts'
import { type OpenOptions, openRepository } from '../../src/vcs/index.ts'

export type IndexSettings = { readonly databaseUrl: string; readonly repository: OpenOptions }

const { databaseUrl, repository } = JSON.parse(process.argv[2] ?? '') as IndexSettings
const pool = createPool({ databaseUrl, max: 2 })
const millrace = await connect({ databaseUrl })
const opened = openRepository(repository)
const worker = createArchiveIndexWorker({ pool, repositories: { of: async () => opened } })
const dispatcher = millrace.dispatch([worker], { leaseSeconds: 1, maxDeaths: 1000 })
await dispatcher.started
process.stdout.write(`ready ${dispatcher.id}\n`)
