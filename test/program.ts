import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Owner } from '../src/db/embedded-owner.ts'

export type Program = AsyncDisposable & {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  /** Answers the first line of standard output that matches; throws with all it said when the program ends first. */
  line(pattern: RegExp): Promise<string>
  readonly exitCode: Promise<number | null>
}

export type ProgramOptions = {
  args?: string[]
  env?: Record<string, string>
  /** Who runs it, when the tests run as root. */
  owner?: Owner | undefined
}

const LINE_MS = 60_000

/** Runs a TypeScript file of the project in a process of its own; killed in the end if it still runs. */
export function runProgram(file: string, options: ProgramOptions = {}): Program {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const tsx = import.meta.resolve('tsx')
  const child = spawn(process.execPath, ['--import', tsx, path, ...(options.args ?? [])], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    // Settings of the developer's own shell must not reach the program under test.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options.owner,
  })
  let stdout = ''
  let stderr = ''
  const hearers = new Set<() => void>()
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
    for (const hear of hearers) hear()
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve))
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why}\nstdout: ${stdout}\nstderr: ${stderr}`))
      const timer = setTimeout(() => fail(`no line matched ${pattern} in time`), LINE_MS)
      const hear = () => {
        const found = stdout
          .split('\n')
          .slice(0, -1)
          .find((text) => pattern.test(text))
        if (found === undefined) return
        clearTimeout(timer)
        hearers.delete(hear)
        resolve(found)
      }
      hearers.add(hear)
      hear()
      void exitCode.then((code) => {
        clearTimeout(timer)
        fail(`the program ended with ${code}`)
      })
    })
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exitCode
  }
  // Also after a test that ran out of time, which leaves its `await using` undone.
  onTestFinished(end)
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    line,
    exitCode,
    [Symbol.asyncDispose]: end,
  }
}
