#!/usr/bin/env node
// The command `millrace`, in three places: in a clone the build is one folder up, in the package `millrace-server` it is
// beside this file, and the package `millrace`, the library, has no server: there the command passes on to the other.
import { existsSync } from 'node:fs'

const isClone = existsSync(new URL('../scripts/bootstrap.mjs', import.meta.url))
const built = new URL(isClone ? '../dist/bin.js' : './dist/bin.js', import.meta.url)

if (existsSync(built)) await import(built.href)
else if (isClone) refuse('Millrace is not built; build it: npm run build')
else await import('millrace-server/bin.mjs').catch(refuseLibrary)

/** @param {Error & { code?: string }} error */
function refuseLibrary(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  refuse('millrace is the library; install the server and the command line: npm install --global millrace-server')
}

/** @param {string} text */
function refuse(text) {
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}
