// The keys of a node's data that mean something to the server, and what they may be. All others are the user's own.
import { z } from 'zod'
import type { Flaw } from './errors.ts'
import type { NodeType } from './node.ts'

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const
const MOST_SECONDS = 10 * 365 * UNITS.d

const A_DURATION = 'must be a number of seconds, or a text like "30s", "5m", "2h" or "1d"'
const A_SIZE = 'must be a number of bytes, or a text like "512m" or "2g"'
const A_MOUNT = 'must be {"source", "target", "read_only"} or a text like "/host/path:/inside:ro"'

/** Seconds, as a number or as `30s`, `5m`, `2h`, `1d`. */
const duration = z
  .union([z.number(), z.string().regex(/^\d{1,9}(\.\d{1,3})?[smhd]$/, A_DURATION)], { error: A_DURATION })
  .transform((given) =>
    typeof given === 'number' ? given : Number(given.slice(0, -1)) * UNITS[given.slice(-1) as keyof typeof UNITS],
  )
  .refine((seconds) => seconds >= 0 && seconds <= MOST_SECONDS, 'must lie between 0 and ten years')
const positive = duration.refine((seconds) => seconds > 0, 'must be more than 0')

const SIZES = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const
const bytes = z
  .union([z.number(), z.string().regex(/^\d{1,9}[kmg]?$/, A_SIZE)], { error: A_SIZE })
  .transform((given) =>
    typeof given === 'number'
      ? given
      : Number.parseInt(given, 10) * SIZES[given.replace(/^\d+/, '') as keyof typeof SIZES],
  )
  .refine((count) => Number.isSafeInteger(count) && count > 0, 'must be a whole number of bytes')

const count = z.int().min(1).max(2_147_483_647)
const text = z.string().min(1, 'must not be empty')
const absolute = z.string().regex(/^\//, 'must be an absolute path')

const mount = z.union(
  [
    z.strictObject({ source: absolute, target: absolute, read_only: z.boolean().optional() }),
    z
      .string()
      .regex(/^\/[^:]*:\/[^:]*(:ro)?$/, A_MOUNT)
      .transform((given) => {
        const [source = '', target = '', mode] = given.split(':')
        return { source, target, read_only: mode === 'ro' }
      }),
  ],
  { error: A_MOUNT },
)

const known = {
  command: text,
  args: z.array(z.string()).max(100_000),
  cwd: absolute,
  env: z
    // A record would drop this key without a word.
    .custom<object>((env) => typeof env !== 'object' || !Object.hasOwn(env ?? {}, '__proto__'), {
      message: '"__proto__" cannot be the name of a variable',
      abort: true,
    })
    .pipe(
      z
        .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable'), z.string())
        .refine(
          (env) => !Object.keys(env).some((name) => name.startsWith('MILLRACE_')),
          'MILLRACE_… is set by the server',
        ),
    ),
  timeout: positive,
  umask: z
    .string()
    .regex(/^0?[0-7]{3}$/, 'must be a text of octal digits, like "022"')
    .transform((given) => Number.parseInt(given, 8)),
  limits: z.strictObject({
    memory: bytes.optional(),
    cpu_seconds: count.optional(),
    processes: count.optional(),
    open_files: count.optional(),
    file_size: bytes.optional(),
  }),
  image: text.max(1000),
  mounts: z.array(mount).max(100),
  network: z.enum(['none', 'host', 'bridge']),
  memory: bytes,
  cpus: z.number().min(0.01).max(10_000),
  file: absolute,
  time: z.iso.datetime({ offset: true, error: 'must be a time like "2030-01-31T12:00:00Z"' }),
  interval: duration.refine((seconds) => seconds >= 0.1, 'must be at least 0.1 seconds'),
  seconds: duration,
  rerun_if_lost: z.boolean(),
  run_if: z.enum(['success', 'failure', 'always']),
  branch: z.enum(['then', 'else']),
}

const specification = z.object(known).partial()
export type Spec = z.output<typeof specification>
export type SpecKey = keyof typeof known

export const specKeys = Object.keys(known) as SpecKey[]
const specKeySet: ReadonlySet<string> = new Set(specKeys)
/** Whether the server gives the key a meaning, so that it is fixed once the node has started. */
export const isSpecKey = (key: string): key is SpecKey => specKeySet.has(key)

/** What the server writes itself. */
export const resultKeys = ['result', 'signal', 'error', 'stdout', 'stderr', 'mixedout'] as const
export type ResultKey = (typeof resultKeys)[number]
const resultKeySet: ReadonlySet<string> = new Set(resultKeys)
export const isResultKey = (key: string): key is ResultKey => resultKeySet.has(key)

const needs = {
  command: (data) => ('command' in data ? [] : ['command is required']),
  'shell command': (data) => [
    ...('command' in data ? [] : ['command is required']),
    ...('args' in data ? ['args belong to a node of type "command"; the shell gets one text'] : []),
  ],
  if: (data) => ('command' in data ? [] : ['command is required']),
  sleep: (data) => ('seconds' in data ? [] : ['seconds is required']),
  condition: (data) => {
    const given = ['command', 'file', 'time'].filter((key) => key in data)
    return given.length === 1 ? [] : [`one of command, file and time is required, and ${given.length} are given`]
  },
} as const satisfies Record<NodeType, (data: object) => string[]>

/**
 * What the server understands of the data of a node. Flaws are told with the place of the data before them. JSON that
 * cannot be stored, and what only the server may write, are flaws too.
 */
export function toSpec(type: NodeType, data: Readonly<Record<string, unknown>>, at: string): Spec | Flaw[] {
  const meant = Object.fromEntries(specKeys.flatMap((key) => (Object.hasOwn(data, key) ? [[key, data[key]]] : [])))
  const parsed = specification.safeParse(meant)
  const flaws: Flaw[] = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => toFlaws(issue, at))),
    ...needs[type](meant).map((message) => ({ pointer: at, message })),
    ...resultKeys.flatMap((key) =>
      Object.hasOwn(data, key) ? [{ pointer: `${at}/${key}`, message: 'is written by the server alone' }] : [],
    ),
  ]
  if (flaws.length > 0 || !parsed.success) return flaws
  return parsed.data
}

/** The data as it was stored and checked before. */
export function readSpec(data: unknown): Spec {
  return specification.parse(data ?? {})
}

const escaped = (part: PropertyKey) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')

function toFlaws(issue: z.core.$ZodIssue, at: string): Flaw[] {
  const pointer = [at, ...issue.path.map(escaped)].join('/')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ pointer: `${pointer}/${escaped(key)}`, message: `Unrecognized key: "${key}"` }))
  return [{ pointer, message: issue.message }]
}
