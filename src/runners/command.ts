import { resolve } from 'node:path'
import { type CommandLimits, type CommandSpec, InvalidCommand } from './runner.ts'

export const GRACE_MS = 10_000
const MARKER = /^[\w.:@/+-]{1,200}$/
const LIMITS = ['memoryBytes', 'cpuSeconds', 'processes', 'openFiles', 'fileSizeBytes'] as const

/** A command that was looked at: everything is given, and nothing in it can be misread by the system. */
export type CheckedCommand = {
  readonly marker: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly umask: number
  readonly limits: CommandLimits
  readonly graceMs: number
  readonly timeoutMs: number | undefined
}

/** Throws `InvalidCommand`, naming the field. */
export function checkCommand(spec: CommandSpec): CheckedCommand {
  const argv = argvOf(spec)
  if (!MARKER.test(spec.marker))
    throw new InvalidCommand(`marker "${spec.marker}" has other characters than A-Z a-z 0-9 _.:@/+-, or too many`)
  if (argv[0] === undefined || argv[0] === '') throw new InvalidCommand('argv names no program')
  for (const word of argv) refuseNul('argv', word)
  for (const [name, value] of Object.entries(spec.env)) {
    if (name === '' || name.includes('=')) throw new InvalidCommand(`env has a name that cannot be: "${name}"`)
    refuseNul(`env.${name}`, name + value)
  }
  refuseNul('cwd', spec.cwd ?? '')
  const umask = spec.umask ?? 0o022
  if (!Number.isInteger(umask) || umask < 0 || umask > 0o777) throw new InvalidCommand(`umask ${umask} is none`)
  for (const name of LIMITS) refuseNonPositive(`limits.${name}`, spec.limits?.[name])
  refuseNonPositive('timeoutMs', spec.timeoutMs)
  return {
    marker: spec.marker,
    argv,
    env: spec.env,
    cwd: resolve(spec.cwd ?? '.'),
    umask,
    limits: spec.limits ?? {},
    graceMs: Math.max(0, Math.floor(spec.graceMs ?? GRACE_MS)),
    timeoutMs: spec.timeoutMs,
  }
}

function argvOf(spec: CommandSpec): readonly string[] {
  if ('argv' in spec) return spec.argv
  return [...(spec.shell ?? 'bash').trim().split(/\s+/), '-c', spec.script]
}

function refuseNul(field: string, text: string): void {
  if (text.includes('\0'))
    throw new InvalidCommand(`${field} contains the character NUL, which no program can be given`)
}

function refuseNonPositive(field: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isInteger(value) && value > 0))
    throw new InvalidCommand(`${field} is ${value}; it must be a whole number above 0`)
}
