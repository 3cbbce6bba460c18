#!/usr/bin/env node
import * as module from 'node:module'

// Node 22 keeps what it has compiled for the next start; older ones do not know how.
const { enableCompileCache } = module as { enableCompileCache?: () => void }
enableCompileCache?.()

const { run } = await import('./cli/index.ts')
let hasHosted = false
// Loaded by the commands that need them: help and a mistyped flag do not wait for the driver and the server.
process.exitCode = await run(process.argv, {
  host: () => {
    hasHosted = true
    return import('./main.ts')
  },
  workflowTools: () => import('./archives/workflow-tools.ts'),
})
// Connections to a database that has fallen silent stay open: whoever has stopped does not wait for them.
if (hasHosted) setTimeout(() => process.exit(), 5_000).unref()
