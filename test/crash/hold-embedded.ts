// Starts the embedded database of the folder in its first argument, says where it is, and holds it: the
// process that crash tests kill.
import { startEmbedded } from '../../src/db/embedded.ts'

const [dataDir = '', systemDir] = process.argv.slice(2)
const embedded = await startEmbedded({ dataDir, ...(systemDir === undefined ? {} : { systemDir }) })
process.on('SIGTERM', () => void embedded.stop())
console.log(JSON.stringify({ databaseUrl: embedded.databaseUrl, serverPid: embedded.pid, cluster: embedded.cluster }))
await embedded.exited
