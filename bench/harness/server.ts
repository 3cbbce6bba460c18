import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const TOKEN = 'the-token-of-the-bench'

export type Server = {
  readonly url: string
  readonly pid: number
  /** Asks the server and answers the body; throws unless the answer is good. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>
  readonly headers: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts the built server on a database. */
export async function startServer(databaseUrl: string, settings: Record<string, string> = {}): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const bin = join(import.meta.dirname, '..', '..', 'dist', 'bin.js')
  const child = spawn(process.execPath, [bin, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      MILLRACE_PORT: '0',
      MILLRACE_DATA: data,
      MILLRACE_DATABASE_URL: databaseUrl,
      MILLRACE_ADMIN_TOKEN: TOKEN,
      MILLRACE_LOG_LEVEL: 'error',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await readyUrl(child)
  const headers = { authorization: `Bearer ${TOKEN}` }
  return {
    url,
    pid: child.pid ?? 0,
    headers,
    async ask<T>(method: string, path: string, body?: unknown) {
      const answer = await fetch(url + path, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as T
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      rmSync(data, { recursive: true, force: true })
    },
  }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const url = /listening on (\S+)/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
}
