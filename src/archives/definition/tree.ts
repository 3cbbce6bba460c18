import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml'
import { type Finding, type FindingCode, type FindingDetail, finding, type Range } from './finding.ts'
import type { Source } from './source.ts'

export type Path = readonly (string | number)[]
export type Place = Range & { readonly file: string }
type Converted = { readonly value: unknown; readonly size: number }
type Entry = { readonly key: Scalar; readonly value: Node | null }

// A workflow of a thousand tasks that share ten values each.
const MOST_ALIASED_VALUES = 10_000

/**
 * The values of a file, and the place of each. Mappings have no prototype. Aliases are followed here and not by the
 * parser, which would answer a value that contains itself.
 */
export class Tree {
  readonly source: Source
  readonly value: unknown
  readonly findings: Finding[] = []
  readonly #root: Node | null
  readonly #anchors = new Map<string, Node>()
  readonly #targets = new Map<Alias, Node>()
  readonly #converted = new Map<Node, Converted>()
  readonly #open = new Set<Node>()
  readonly #entries = new Map<Node, ReadonlyMap<string, Entry>>()
  #aliasedValues = 0

  constructor(source: Source, root: Node | null) {
    this.source = source
    this.#root = root
    this.value = root === null ? null : this.#convert(root).value
  }

  /** The place of a value; of the nearest value around it when the path leads nowhere. */
  placeOf(path: Path): Place {
    return this.#placeOfNode(this.#find(path).node)
  }

  /** The place of the key under which the value stands; of the value when it stands in a list. */
  placeOfKey(path: Path): Place {
    const { key, node } = this.#find(path)
    return this.#placeOfNode(key ?? node)
  }

  /** Where to point when a mapping lacks a key: its first key, or the whole of it when it is empty. */
  placeOfLack(path: Path): Place {
    const { node } = this.#find(path)
    const [first] = (node && this.#entries.get(node)?.values()) ?? []
    return this.#placeOfNode(first?.key ?? node)
  }

  /** A part of a text; the whole of it where escapes hide which part that is. */
  placeInside(path: Path, at: number, length: number): Place {
    const { node } = this.#find(path)
    if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return this.placeOf(path)
    const [from, to] = node.range
    const written = this.source.text.slice(from, to)
    const begin = beginOfText(node, written)
    const text = { written: written.slice(begin), value: node.value, escaper: escaperOf(node) }
    const first = findCharacter(text, at)
    const last = length < 1 ? first : findCharacter(text, at + length - 1)
    if (first === undefined || last === undefined) return this.placeOf(path)
    return this.source.range(from + begin + first, from + begin + last + Math.min(1, length))
  }

  /** A scalar as it is written, so that `1.10` stays what it is when text is wanted. */
  writtenAt(path: Path): string | undefined {
    const { node } = this.#find(path)
    return isScalar(node) ? node.source : undefined
  }

  #placeOfNode(node: Node | null | undefined): Place {
    if (!node?.range) return this.source.range(0, 0)
    // A mapping ends with the line after it; whoever marks it wants to mark what is written.
    const [from, to] = node.range
    return this.source.range(from, from + this.source.text.slice(from, to).trimEnd().length)
  }

  #find(path: Path): { key: Scalar | undefined; node: Node | null } {
    let key: Scalar | undefined
    let node = this.#follow(this.#root)
    for (const step of path) {
      const entry = node && typeof step === 'string' ? this.#entries.get(node)?.get(step) : undefined
      const item = isSeq<Node>(node) && typeof step === 'number' ? node.items[step] : undefined
      const next = entry ? entry.value : item
      if (next === undefined) break
      key = entry?.key
      node = this.#follow(next)
    }
    return { key, node }
  }

  #follow(node: Node | null): Node | null {
    return isAlias(node) ? (this.#targets.get(node) ?? node) : node
  }

  #convert(node: Node): Converted {
    if (isAlias(node)) return this.#convertAlias(node)
    const anchor = 'anchor' in node ? node.anchor : undefined
    if (anchor !== undefined) this.#anchors.set(anchor, node)
    this.#open.add(node)
    const converted = isMap<Node, Node | null>(node) ? this.#convertMap(node) : this.#convertOther(node)
    this.#open.delete(node)
    if (anchor !== undefined) this.#converted.set(node, converted)
    return converted
  }

  #convertOther(node: Node): Converted {
    if (isScalar(node)) return { value: node.value, size: 1 }
    if (!isSeq<Node>(node)) return { value: null, size: 1 }
    const items = node.items.map((item) => this.#convert(item))
    return { value: items.map(({ value }) => value), size: sum(items) }
  }

  #convertMap(map: YAMLMap<Node, Node | null>): Converted {
    const entries = new Map<string, Entry>()
    const value = Object.create(null) as Record<string, unknown>
    const sizes: Converted[] = []
    this.#entries.set(map, entries)
    for (const pair of map.items) {
      const converted = pair.value === null ? { value: null, size: 1 } : this.#convert(pair.value)
      sizes.push(converted)
      const key = this.#checkKey(pair.key, entries)
      if (key === undefined) continue
      entries.set(key.value, { key, value: pair.value })
      value[key.value] = converted.value
    }
    return { value, size: sum(sizes) }
  }

  #checkKey(key: Node, entries: ReadonlyMap<string, Entry>): Scalar<string> | undefined {
    const text = isScalar(key) ? key.value : undefined
    if (typeof text !== 'string' || text === '__proto__') {
      const written = isScalar(key) ? key.source : undefined
      const suggestion = written && text !== '__proto__' ? `put it in quotes: "${written}"` : undefined
      this.#report('bad-key', key, 'this cannot be a key', { suggestion })
      return undefined
    }
    if (text === '<<') {
      const suggestion = 'write the keys out, or use defaults'
      this.#report('merge-key', key, 'the merge key is not supported', { suggestion })
      return undefined
    }
    const first = entries.get(text)
    if (first === undefined) return key as Scalar<string>
    const related = [{ ...this.#placeOfNode(first.key), message: 'the first one' }]
    this.#report('duplicate-key', key, `the key "${text}" stands here a second time`, { related })
    return undefined
  }

  #convertAlias(alias: Alias): Converted {
    const nothing = { value: undefined, size: 0 }
    const target = this.#anchors.get(alias.source)
    if (target === undefined) {
      this.#report('unknown-alias', alias, `there is no anchor &${alias.source} before this alias`)
      return nothing
    }
    if (this.#open.has(target)) {
      this.#report('cyclic-alias', alias, `the alias *${alias.source} stands inside what it refers to`)
      return nothing
    }
    this.#targets.set(alias, target)
    const converted = this.#converted.get(target) ?? nothing
    const before = this.#aliasedValues
    this.#aliasedValues += converted.size
    if (this.#aliasedValues <= MOST_ALIASED_VALUES) return converted
    const message = `with this alias, aliases expand to more than ${MOST_ALIASED_VALUES.toLocaleString('en')} values`
    if (before <= MOST_ALIASED_VALUES) this.#report('too-many-aliases', alias, message)
    return nothing
  }

  #report(code: FindingCode, at: Node, message: string, detail: FindingDetail = {}): void {
    this.findings.push(finding(code, this.#placeOfNode(at), message, detail))
  }
}

/** How much stands before the text itself: a quote, or the line that begins a block. */
function beginOfText({ type }: Scalar, written: string): number {
  if (type === 'PLAIN') return 0
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED' ? written.indexOf('\n') + 1 : 1
}

/** What stands before a sign that would otherwise end the text. */
function escaperOf({ type }: Scalar): string | undefined {
  if (type === 'QUOTE_DOUBLE') return '\\'
  return type === 'QUOTE_SINGLE' ? "'" : undefined
}

type Written = { readonly written: string; readonly value: string; readonly escaper: string | undefined }

/**
 * Where a character of the text stands in what was written, whose lines may be folded and indented; undefined where
 * another stands there, because of an escape such as \n before it.
 */
function findCharacter({ written, value, escaper }: Written, at: number): number | undefined {
  const isSpace = (sign: string | undefined) => sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t'
  let place = 0
  for (let i = 0; i <= at; i += 1) {
    // Where the text ends, or has a space, the place is the one after the word before.
    if (i >= value.length || isSpace(value[i])) continue
    while (isSpace(written[place])) place += 1
    if (written[place] === escaper && written[place + 1] === value[i]) place += 1
    if (written[place] !== value[i]) return undefined
    if (i < at) place += 1
  }
  return place
}

const sum = (parts: readonly Converted[]) => parts.reduce((total, { size }) => total + size, 1)
