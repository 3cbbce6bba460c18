// `npm start`: makes a fresh clone runnable, then serves, in this very process, so that a signal sent to it
// reaches the server.
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
const bin = new URL('../dist/bin.js', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(bin), 'serve')
await import(bin.href)
