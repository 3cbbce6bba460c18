// A server that runs one command in a container and stores its output, to be killed; or the next one, which adopts it,
// goes on with the output, and says how it ended.
import { createPool } from '../../src/db/index.ts'
import { createContainerRunner } from '../../src/runners/index.ts'
import { createOutputWriter, resumeOutputWriter } from '../../src/storage/index.ts'

export type ContainerProgramSettings = {
  readonly databaseUrl: string
  readonly marker: string
  readonly image: string
  /** What to run; without it, what carries the marker is adopted. */
  readonly script?: string
}

const { databaseUrl, marker, image, script } = JSON.parse(process.argv[2] ?? '') as ContainerProgramSettings
const pool = createPool({ databaseUrl, max: 2 })
const runner = createContainerRunner({ engine: 'podman' })
const options = {
  pool,
  task: '1',
  attempt: 1,
  onStored: (size: number) => void process.stdout.write(`stored ${size}\n`),
}
const writer = script === undefined ? await resumeOutputWriter(options) : createOutputWriter(options)
const io = { sink: writer.write.bind(writer) }
const running =
  script === undefined
    ? await runner.adopt(marker, io)
    : await runner.start({ script, shell: 'sh', marker, env: {}, container: { image } }, io)
const ending = await running?.ended
await writer.close()
process.stdout.write(`ended ${JSON.stringify(ending)}\n`)
await pool.end()
