// The log of a server or worker: JSON lines for programs, readable lines for a person at a terminal.
import { styleText } from 'node:util'
import { type Logger, pino } from 'pino'
import { clean } from './cli/index.ts'
import { type Config, readTerminal } from './config/index.ts'

const LEVELS = {
  10: ['TRACE', 'dim'],
  20: ['DEBUG', 'dim'],
  30: ['INFO', 'green'],
  40: ['WARN', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
} as const
const LONGEST_VALUE = 60

export function createLogger({
  log_level: level,
  log_format: format,
}: Pick<Config, 'log_level' | 'log_format'>): Logger {
  // Standard output is for the ready line alone.
  const sink = pino.destination({ dest: 2, sync: true })
  const options = { level, redact: ['req.headers.authorization', 'req.headers.cookie'] }
  const isTerminal = process.stderr.isTTY === true
  if (format === 'json' || (format === 'auto' && !isTerminal)) return pino(options, sink)
  const { color, isDumb } = readTerminal()
  const hasColor = color ?? (isTerminal && !isDumb)
  return pino(options, { write: (line: string) => sink.write(logText(line, hasColor)) })
}

/** A JSON line of the log as a person reads it: time, level, message, fields; with an error's stack where it is one. */
export function logText(line: string, hasColor: boolean): string {
  const paint = (color: Parameters<typeof styleText>[0], text: string) =>
    hasColor ? styleText(color, text, { validateStream: false }) : text
  // Each process has its own terminal: which one it is, is known.
  const { level, time, pid: _pid, hostname: _hostname, msg = '', err, ...fields } = JSON.parse(line) as Entry
  const [name, color] = LEVELS[level as keyof typeof LEVELS] ?? [String(level), 'dim']
  const message =
    err?.message === undefined || err.message === msg ? msg : [msg, err.message].filter(Boolean).join(': ')
  const shown = Object.entries(fields).map(([key, value]) => paint('dim', `${clean(key)}=${valueText(value)}`))
  const words = [paint('dim', timeText(time)), paint(color, name.padEnd(5)), clean(message), ...shown]
  // A warning is about what passes by itself; its place in the program is told by the JSON line.
  const stack = level < 50 || err?.stack === undefined ? [] : err.stack.split('\n').filter((one) => /^\s+at /.test(one))
  return [words.join(' '), ...stack.map((one) => paint('dim', clean(one)))].map((one) => `${one}\n`).join('')
}

type Entry = {
  readonly level: number
  readonly time: number
  readonly pid?: number
  readonly hostname?: string
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
  readonly [field: string]: unknown
}

const timeText = (time: number) => new Date(time).toLocaleTimeString('en-GB')

function valueText(value: unknown): string {
  const text = typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : (JSON.stringify(value) ?? '')
  const one = clean(text)
  return one.length > LONGEST_VALUE ? `${one.slice(0, LONGEST_VALUE - 1)}…` : one
}
