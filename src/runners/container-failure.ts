import { errorLine } from './container-engine.ts'
import type { Ending } from './runner.ts'

type SpawnFailed = Extract<Ending, { type: 'spawn_failed' }>

// An engine says it in words only; the codes 125 to 127 may as well be the command's own.
const NO_IMAGE =
  /image not known|no such image|manifest unknown|pull access denied|initializing source|unable to find image|name unknown|not found: manifest/i
// Only what is said of the program: a folder to mount may be missing, and a limit not permitted.
const NO_PROGRAM = /executable file not found|exec: "[^"]*": stat [^:]*: no such file or directory/i
const NOT_EXECUTABLE = /exec: "[^"]*": permission denied|exec format error/i
// What the init processes of podman and docker print when they cannot start the command.
const BY_INIT = /^(?:ERROR \(catatonit:\d+\): failed to exec pid1: |\[FATAL tini \(\d+\)\] exec .* failed: )(.*)\n$/

/** Why `run` did not start a container. */
export function refusal(image: string, program: string, said: string): SpawnFailed {
  const line = errorLine(said)
  if (NO_IMAGE.test(said)) return { type: 'spawn_failed', reason: `no such image: ${image} (${line})` }
  if (NO_PROGRAM.test(said)) return noProgram(program)
  if (NOT_EXECUTABLE.test(said)) return notExecutable(program)
  return { type: 'spawn_failed', reason: `the container did not start: ${line}` }
}

/** What the init process inside says instead of the command that it could not start, when that is all there is. */
export function initFailure(program: string, stderr: string): SpawnFailed | undefined {
  const said = BY_INIT.exec(stderr)?.[1]
  if (said === undefined) return undefined
  return /no such file/i.test(said) ? noProgram(program) : notExecutable(program)
}

const noProgram = (program: string): SpawnFailed => ({
  type: 'spawn_failed',
  errno: 'ENOENT',
  reason: `no such program in the image: ${program}`,
})

const notExecutable = (program: string): SpawnFailed => ({
  type: 'spawn_failed',
  errno: 'EACCES',
  reason: `not executable in the image: ${program}`,
})
