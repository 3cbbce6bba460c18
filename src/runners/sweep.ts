// Ends what carries a marker, whoever started it and wherever it went: processes with the marker in their environment,
// the keepers that name it, and all that descends from either.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Which } from './runner.ts'
import { isRunnerAlive, readStat } from './runner-id.ts'

const LIMIT_MS = 30_000
const LOOK_MS = 10
const FREEZES = 50

/** Processes are left although they were killed: the system does not let them go, as on a file server that is away. */
export class NotGone extends Error {
  readonly code = 'not_gone'
  constructor(pids: readonly number[]) {
    super(`processes ${pids.join(', ')} were killed ${LIMIT_MS / 1000} s ago and are still there`)
  }
}

/** Answers how many processes it ended. */
export function sweep(which: Which): Promise<number> {
  return endAll(({ marker }) =>
    'marker' in which ? marker === which.marker : marker !== '' && marker.startsWith(which.prefix),
  )
}

/** The same for what servers that are dead have left; also removes their folders. */
export async function sweepLeftovers(prefix: string): Promise<number> {
  removeFolders()
  return endAll(({ marker, runnerId }) => marker !== '' && marker.startsWith(prefix) && !isRunnerAlive(runnerId))
}

export function killGroup(folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1')
  } catch {
    // The group went with its last process, or there was none.
  }
}

/** The same for a session, for a command that has one of its own and may have wiped its environment. */
export function sweepSession(session: number, marker: string): Promise<number> {
  return endAll((found) => found.marker === marker || found.session === session)
}

type Marked = { readonly marker: string; readonly runnerId: string; readonly session: number }

async function endAll(isMeant: (marked: Marked) => boolean): Promise<number> {
  const ended = new Set<number>()
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(LOOK_MS)) {
    const found = freeze(isMeant)
    if (found.length === 0) return ended.size
    if (Date.now() > deadline) throw new NotGone(found)
    signal(found, 'SIGKILL')
    for (const pid of found) ended.add(pid)
  }
}

/** What stands still does not fork: all that is meant, once nothing is found any more that was not frozen before. */
function freeze(isMeant: (marked: Marked) => boolean): number[] {
  const frozen = new Set<number>()
  for (let round = 0; round < FREEZES; round += 1) {
    const fresh = find(isMeant).filter((pid) => !frozen.has(pid))
    if (fresh.length === 0) break
    signal(fresh, 'SIGSTOP')
    for (const pid of fresh) frozen.add(pid)
  }
  return [...frozen]
}

function find(isMeant: (marked: Marked) => boolean): number[] {
  const processes = readProcesses()
  const own = new Set<number>()
  for (let pid: number | undefined = process.pid; pid !== undefined && !own.has(pid); pid = processes.get(pid)?.parent)
    own.add(pid)
  const below = new Map<number, number[]>()
  for (const [pid, { parent }] of processes) below.set(parent, [...(below.get(parent) ?? []), pid])
  const found = new Set<number>()
  const add = (pid: number) => {
    if (own.has(pid) || found.has(pid)) return
    found.add(pid)
    for (const child of below.get(pid) ?? []) add(child)
  }
  for (const [pid, { session }] of processes) if (isMeant({ ...markOf(pid), session })) add(pid)
  return [...found]
}

type Process = { readonly parent: number; readonly session: number }

function readProcesses(): Map<number, Process> {
  if (process.platform !== 'linux') return processesByPs()
  const processes = new Map<number, Process>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const stat = pid > 0 ? readStat(pid) : undefined
    if (stat !== undefined) processes.set(pid, stat)
  }
  return processes
}

function processesByPs(): Map<number, Process> {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  const fields = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state = '']) => !state.startsWith('Z'))
  return new Map(
    fields.map(([pid, parent, group]) => [Number(pid), { parent: Number(parent), session: Number(group) }]),
  )
}

/** The marker that a process carries: in its environment, or, a keeper, in its name. Empty: none. */
function markOf(pid: number): Omit<Marked, 'session'> {
  const environment = readVariables(pid)
  const marker = /(?:^|[\0\s])MILLRACE_MARKER=([^\0\s]+)/.exec(environment)?.[1]
  if (marker !== undefined) {
    const runnerId = /(?:^|[\0\s])MILLRACE_RUNNER=([^\0\s]+)/.exec(environment)?.[1] ?? ''
    return { marker, runnerId }
  }
  const [, runnerId = '', named = ''] = /^millrace keeper ([^\s\0]+) ([^\s\0]+)/.exec(readProc(pid, 'cmdline')) ?? []
  return { runnerId, marker: named }
}

function readVariables(pid: number): string {
  if (process.platform === 'linux') return readProc(pid, 'environ')
  try {
    return execFileSync('ps', ['-Eww', '-o', 'command=', '-p', String(pid)], { encoding: 'latin1' })
  } catch {
    return ''
  }
}

function readProc(pid: number, file: string): string {
  try {
    // Any other encoding takes a buffer of 64 KB for each file, and there may be thousands.
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return '' // gone, or another user's
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended between being seen and being told.
    }
  }
}

function removeFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const runnerId = /^millrace-(\d+\.\d+\.\d+\.\d+)-\w{6}$/.exec(name)?.[1]
    if (runnerId !== undefined && !isRunnerAlive(runnerId))
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}
