// What a command prints. Data goes to standard output, everything else to standard error: what a person reads and what
// a program reads are the same values, in another form.
import { once } from 'node:events'
import { readTerminal } from '../config/index.ts'
import type { Prints } from './command.ts'
import { UsageError } from './exit.ts'
import { createStyle, type Style } from './render/style.ts'
import type { Column } from './render/table.ts'
import type { Sink, World } from './world.ts'

export type OutputOptions = {
  readonly color: 'auto' | 'always' | 'never'
  readonly prints: Prints
  readonly json?: boolean
  readonly jsonFields?: string
  readonly ndjson?: boolean
  readonly plain?: boolean
  readonly quiet?: boolean
}

export type Format = 'text' | 'json' | 'ndjson' | 'plain' | 'quiet'

export type Output = {
  readonly format: Format
  /** Standard output is a terminal that understands escape sequences, and a person reads it. */
  readonly isLive: boolean
  /** Of standard output. */
  readonly style: Style
  /** Of standard error. */
  readonly errorStyle: Style
  /** Cells in a line of the terminal; undefined where nothing is to be cut. */
  readonly width: number | undefined
  /** Prints one thing; quietly its ids alone. */
  readonly one: (value: object, text: () => readonly string[], ids?: readonly string[]) => void
  /** Prints things as a table. `none` is said when there are none. */
  readonly list: <T extends object>(
    items: readonly T[],
    columns: readonly Column<T>[],
    of: ListOptions<T>,
  ) => Promise<void>
  /** Prints one of several things that come one after another. */
  readonly item: (value: object, text: () => string) => void
  readonly line: (text: string) => void
  /** Writes bytes as they are, and waits while the reader is slow. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Says something that is not data. */
  readonly note: (text: string) => void
}

export type ListOptions<T> = { readonly id: (item: T) => string; readonly none: string }

export function createOutput({ stdout, stderr, environment }: World, options: OutputOptions): Output {
  const terminal = readTerminal(environment)
  const format = formatOf(options)
  const hasColor = (sink: Sink) =>
    options.color === 'auto'
      ? (terminal.color ?? (sink.isTTY === true && !terminal.isDumb))
      : options.color === 'always'
  const isTerminal = stdout.isTTY === true
  const style = createStyle(format === 'text' && hasColor(stdout))
  // Asked each time: a terminal can be resized.
  const width = () => (isTerminal ? (stdout.columns ?? 80) : undefined)
  const line = (text: string) => void stdout.write(`${text}\n`)
  const fields = options.jsonFields ? fieldsOf(options.jsonFields) : undefined
  const json = (value: unknown) => line(JSON.stringify(value, null, isTerminal && format === 'json' ? 2 : undefined))
  return {
    format,
    isLive: isTerminal && format === 'text' && !terminal.isDumb,
    style,
    errorStyle: createStyle(hasColor(stderr)),
    get width() {
      return width()
    },
    one(value, text, ids = []) {
      if (format === 'json' || format === 'ndjson') json(pick(value, fields))
      else if (format === 'quiet') for (const one of ids) line(one)
      else for (const one of text()) line(one)
    },
    async list(items, columns, { id, none }) {
      if (format === 'json') json(items.map((item) => pick(item, fields)))
      else if (format === 'ndjson') for (const item of items) json(pick(item, fields))
      else if (format === 'quiet') for (const item of items) line(id(item))
      else if (items.length === 0) stderr.write(format === 'text' && none !== '' ? `${none}\n` : '')
      else {
        // Loaded here: most commands print no table.
        const { table, tabbed } = await import('./render/table.ts')
        const lines =
          format === 'plain' ? tabbed(items, columns) : await table(items, columns, { style, width: width() })
        for (const one of lines) line(one)
      }
    },
    item(value, text) {
      if (format === 'json' || format === 'ndjson') line(JSON.stringify(pick(value, fields)))
      else line(text())
    },
    line,
    async write(bytes) {
      if (!stdout.write(bytes)) await once(stdout, 'drain')
    },
    note(text) {
      // What a list leaves out is told in any case.
      if (format !== 'quiet' || options.prints !== 'change') stderr.write(`${text}\n`)
    },
  }
}

function formatOf({ prints, json, ndjson, plain, quiet }: OutputOptions): Format {
  const asked = [json && 'json', ndjson && 'ndjson', plain && 'plain', quiet && 'quiet'].filter(Boolean) as Format[]
  const [format = 'text', second] = asked
  // A stream of one JSON value for each thing that happens is the only form in which a stream can be JSON.
  if (second !== undefined && !(prints === 'stream' && second === 'ndjson')) {
    throw new UsageError(`--${format} and --${second} exclude each other`, 'choose one of them')
  }
  return second ?? format
}

const fieldsOf = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)

function pick(value: object, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return value
  const known = new Map<string, unknown>(Object.entries(value))
  const unknown = fields.filter((name) => !known.has(name))
  if (unknown.length > 0) {
    throw new UsageError(`there is no field ${unknown.join(', ')}`, `choose from ${[...known.keys()].join(', ')}`)
  }
  return Object.fromEntries(fields.map((name) => [name, known.get(name)]))
}
