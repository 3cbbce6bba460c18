import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import type { CheckedCommand } from './command.ts'
import type { Ending } from './runner.ts'

// The first name of a number counts: SIGABRT and not SIGIOT.
const signalNames = new Map<number, NodeJS.Signals>()
for (const [name, number] of Object.entries(constants.signals))
  if (!signalNames.has(number)) signalNames.set(number, name as NodeJS.Signals)

export function signalName(number: number): NodeJS.Signals {
  // Real-time signals have no names of their own.
  return signalNames.get(number) ?? (`SIG${number}` as NodeJS.Signals)
}

/** From what wait(2) says. */
export function endingOf(status: number, hasRunOutOfMemory: boolean): Ending {
  const note = hasRunOutOfMemory ? { note: 'the memory limit was reached' } : {}
  const signal = status & 0x7f
  if (signal === 0) return { type: 'exited', code: (status >> 8) & 0xff, ...note }
  return { type: 'signaled', signal: signalName(signal), ...note }
}

export type Stage = 'program' | 'cwd' | 'output' | 'fork' | 'keeper'

/** Why a command did not begin, in words. */
export function spawnFailure(command: CheckedCommand, stage: string, errorNumber: number): Ending {
  const errno = errorNumber > 0 ? nameOf(errorNumber) : undefined
  return { type: 'spawn_failed', reason: reasonOf(command, stage, errno), ...(errno === undefined ? {} : { errno }) }
}

function nameOf(errorNumber: number): string {
  try {
    return getSystemErrorName(-errorNumber)
  } catch {
    return `E${errorNumber}`
  }
}

function reasonOf({ argv, cwd }: CheckedCommand, stage: string, errno = 'for an unknown reason'): string {
  const program = argv[0]
  if (stage === 'program') {
    if (errno === 'ENOENT') return `no such program, or what it names as its interpreter is not there: ${program}`
    if (errno === 'EACCES') return `not executable: ${program}`
    if (errno === 'E2BIG') return 'the arguments and the environment are longer than the system allows'
    return `${program} cannot be run: ${errno}`
  }
  if (stage === 'cwd') {
    if (errno === 'ENOENT') return `no such folder to run in: ${cwd}`
    return `the folder ${cwd} cannot be run in: ${errno}`
  }
  if (errno === 'EAGAIN') return 'there are too many processes already'
  return `the command could not be prepared (${stage}): ${errno}`
}
