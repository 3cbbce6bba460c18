// `npm start`: makes a fresh clone runnable, then serves, in this very process. npm hands a signal to its child and no
// further, so the script is started with `exec`, without a shell between, and starts no child either.
import { fileURLToPath } from 'node:url'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
const bin = new URL('../dist/bin.js', import.meta.url)
process.argv.splice(1, 1, fileURLToPath(bin), 'serve')
await import(bin.href)
