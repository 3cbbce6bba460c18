import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Operation } from '../contenders/contender.ts'

export type Performed<T> = { value: T; peakMb: number | null }
export type Request = { contender: string; url: string; operation: Operation; argument?: unknown }

/** Runs one operation of a contender in a process of its own. Throws when the process ends without a result. */
export function performer(node: string, compiled: string, limitSeconds: number) {
  return <T>({ contender, url, operation, argument = null }: Request): Promise<Performed<T>> => {
    const args = [join(compiled, 'contenders', 'child.js'), contender, url, operation, JSON.stringify(argument)]
    return new Promise((resolve, reject) => {
      const child = spawn(node, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
      let complaints = ''
      child.stderr?.on('data', (chunk) => {
        complaints = (complaints + chunk).slice(-2_000)
      })
      let result: Performed<T> | undefined
      const limit = setTimeout(() => child.kill('SIGKILL'), limitSeconds * 1000)
      child.on('message', (message) => {
        result = message as Performed<T>
      })
      child.on('exit', (code, signal) => {
        clearTimeout(limit)
        if (result) resolve(result)
        else
          reject(
            new Error(`${contender} ${operation} ended with ${signal ?? code} and without a result\n${complaints}`),
          )
      })
    })
  }
}
