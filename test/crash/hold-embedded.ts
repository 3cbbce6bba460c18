// Starts the embedded database of the folder in its first argument (with the binaries in its second), says
// where it is, and holds it: the process that crash tests kill.
import { startEmbedded } from '../../src/db/embedded.ts'

const [dataDir = '', native] = process.argv.slice(2)
const embedded = await startEmbedded({ dataDir, ...(native ? { binaries: { native, version: 'test' } } : {}) })
process.on('SIGTERM', () => void embedded.stop())
console.log(JSON.stringify({ databaseUrl: embedded.databaseUrl, serverPid: embedded.pid, cluster: embedded.cluster }))
await embedded.exited
