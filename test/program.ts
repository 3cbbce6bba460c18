import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import type { Owner } from '../src/db/embedded-owner.ts'
import { PATIENCE_MS } from './processes.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

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

/** Where a program of the project or of its tests stands, compiled. */
export const compiledFrom = (file: string): string => join(inject('compiled'), file.replace(/\.ts$/, '.js'))

/** Runs a program of the project or of its tests in a process of its own; killed in the end if it still runs. */
export function runProgram(file: string, options: ProgramOptions = {}): Program {
  const compiled = inject('compiled')
  const root = options.owner === undefined || isOpenToAll(ROOT) ? ROOT : openCopy(compiled)
  const child = spawn(process.execPath, [join(root, relative(ROOT, compiledFrom(file))), ...(options.args ?? [])], {
    cwd: root,
    // Settings of the developer's own shell must not reach the program under test.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/proc/nonexistent', TMPDIR: tmpdir(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options.owner,
  })
  return follow(child)
}

/** Hears what a process says; killed in the end if it, or what it left behind, still talks. */
export function follow(child: ChildProcess, kill = () => void child.kill('SIGKILL')): Program {
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
  let isOver = false
  const exitCode = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isOver = true
      resolve(code)
    })
  })
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why}\nstdout: ${stdout}\nstderr: ${stderr}`))
      const timer = setTimeout(() => fail(`no line matched ${pattern} in time`), PATIENCE_MS)
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
    if (!isOver) kill()
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

/** The checkout, for somebody who may not enter it where it is: a user's home, or a temporary folder. Gone with the test. */
function openCopy(compiled: string): string {
  // Mostly on the disk of the checkout, where links take the place of copies.
  const copy = mkdtempSync('/var/tmp/millrace-checkout-')
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  chmodSync(copy, 0o755)
  const place = join(copy, relative(ROOT, compiled))
  mkdirSync(dirname(place), { recursive: true })
  const copyTo = (to: string, parts: string[]) =>
    execFileSync('cp', ['-a', ...(isOnOneDisk(ROOT, copy) ? ['-l'] : []), ...parts, to])
  copyTo(
    copy,
    ['package.json', 'migrations', 'schemas', 'dist', 'node_modules'].map((part) => join(ROOT, part)),
  )
  copyTo(place, [compiled])
  return `${copy}/`
}

const isOnOneDisk = (one: string, other: string) => statSync(one).dev === statSync(other).dev

function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  return dirname(folder) === folder || isOpenToAll(dirname(folder))
}
