// Runs one command to its end and keeps what it printed.
import { spawn } from 'node:child_process'
import { root } from './bootstrap.mjs'

const KEPT = 1_000_000

/**
 * @typedef {{ status: number, output: string, seconds: number }} Ended
 * @param {string[]} command
 * @param {{ env?: NodeJS.ProcessEnv, isShown?: boolean }} [options] `isShown` prints as it goes, and keeps only the end
 * @returns {Promise<Ended>}
 */
export function run([program = '', ...args], { env = process.env, isShown = false } = {}) {
  const started = performance.now()
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (/** @type {Buffer} */ chunk) => {
      if (isShown) process.stdout.write(chunk)
      output = isShown ? (output + chunk).slice(-KEPT) : output + chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const end = (/** @type {number} */ status) =>
      resolve({ status, output, seconds: (performance.now() - started) / 1000 })
    child.on('error', (error) => {
      output += String(error)
      end(127)
    })
    child.on('close', (code) => end(code ?? 128))
  })
}
