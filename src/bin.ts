#!/usr/bin/env node
import { run } from './cli/index.ts'

// Loaded by the commands that run Millrace here: help and a mistyped flag do not wait for the driver and the server.
process.exitCode = await run(process.argv, () => import('./main.ts'))
