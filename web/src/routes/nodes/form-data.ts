// What is filled in of a node, as the server takes it, and the other way round.
import type { Asked, BodyAnswered, routes } from '../../api.ts'

export type Node = BodyAnswered<typeof routes.nodes.get>
export type NodeType = Node['metadata']['type']
export type NewNode = NonNullable<Asked<typeof routes.nodes.add>['body']>[number]
export type NodeChange = NonNullable<Asked<typeof routes.nodes.change>['body']>

type Data = Record<string, unknown>

function textOf(given: FormData, name: string): string {
  const value = given.get(name)
  return typeof value === 'string' ? value : ''
}

const linesOf = (text: string) => text.replace(/\r/g, '').replace(/\n+$/, '')

/** The data of a node by its form; what is left empty is left out. Throws `Error` with what is wrong. */
export function dataOf(given: FormData): Data {
  const data: Data = {}
  const take = (name: string, value: unknown) => {
    if (value !== '' && value !== undefined) data[name] = value
  }
  take('command', linesOf(textOf(given, 'command')))
  const args = linesOf(textOf(given, 'args'))
  if (args !== '') data['args'] = args.split('\n')
  for (const name of ['file', 'time', 'cwd']) take(name, textOf(given, name).trim())
  for (const name of ['timeout', 'interval']) {
    const text = textOf(given, name).trim()
    take(name, /^\d+(\.\d+)?$/.test(text) ? Number(text) : text)
  }
  const seconds = textOf(given, 'seconds').trim()
  if (seconds !== '') data['seconds'] = toNumber(seconds)
  const env = linesOf(textOf(given, 'env'))
  if (env !== '') data['env'] = toVariables(env)
  const more = textOf(given, 'more').trim()
  return more === '' ? data : { ...data, ...toObject(more) }
}

function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number)) throw new Error(`"${text}" is not a number of seconds`)
  return number
}

function toVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      if (line.trim() === '') return []
      const at = line.indexOf('=')
      if (at < 1) throw new Error(`"${line}" is not NAME=VALUE`)
      return [[line.slice(0, at).trim(), line.slice(at + 1)]]
    }),
  )
}

function toObject(text: string): Data {
  const value = parseExact(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('More data must be an object')
  return value as Data
}

/** Reads JSON; refuses numbers that would become others on the way. */
export function parseExact(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`)
  }
  const numbers = text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? []
  const altered = numbers.find(
    (digits) => !(/^-?\d+$/.test(digits) ? Number.isSafeInteger : Number.isFinite)(Number(digits)),
  )
  if (altered !== undefined) throw new Error(`${altered} has more digits than a browser keeps: send it as a text`)
  return value
}

/** What of the form's data is other than it was; null removes a key. */
export function changesOf(before: Data, after: Data): Data {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  return Object.fromEntries(changed.map((key) => [key, after[key] ?? null]))
}

export type Filled = { readonly [name: string]: string }

/** How the data of a node stands in its form. */
export function filledOf({ data }: Node): Filled {
  const text = (name: string) => {
    const value = data[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  const args = Array.isArray(data['args']) ? data['args'].join('\n') : ''
  const env = Object.entries((data['env'] ?? {}) as Record<string, string>).map(([name, value]) => `${name}=${value}`)
  const plain = ['command', 'file', 'time', 'interval', 'seconds', 'cwd', 'timeout'].map((name) => [name, text(name)])
  return { ...Object.fromEntries(plain), args, env: env.join('\n') }
}

/** Each line a command of the shell that runs when the one before has succeeded. */
export function chainOf(text: string, parent: string): NewNode[] {
  const commands = linesOf(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
  if (commands.length === 0) throw new Error('Write at least one command')
  return commands.map((command, i) => ({
    metadata: { type: 'shell command', parent: i === 0 ? parent : `#${i - 1}` },
    data: { command },
  }))
}
