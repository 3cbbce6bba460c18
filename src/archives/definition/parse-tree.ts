import { Composer, type CST, Parser, type YAMLError } from 'yaml'
import { type Finding, finding } from './finding.ts'
import { findJsonProblem } from './json-syntax.ts'
import type { Source } from './source.ts'
import { quoted } from './suggest-type.ts'
import { Tree } from './tree.ts'

// Deeper than any workflow. The composer calls itself for each level: a file of nothing but opening brackets would
// otherwise exhaust the stack, and with it the process.
const DEEPEST = 30

/** The YAML or JSON of a file as a tree that knows its places; undefined when there is none to work with. */
export function parseTree(source: Source): { tree: Tree | undefined; findings: Finding[] } {
  if (source.file.endsWith('.json') && source.text.trim() !== '') {
    const problem = findJsonProblem(source.text)
    if (problem) {
      const place = source.range(problem.at, problem.at)
      return { tree: undefined, findings: [finding('json-syntax', place, problem.message)] }
    }
  }
  const tokens = [...new Parser().parse(source.text)]
  const deep = findTooDeep(tokens)
  if (deep !== undefined) {
    const message = `values are nested more than ${DEEPEST} levels deep`
    return { tree: undefined, findings: [finding('too-deep', source.range(deep, deep), message)] }
  }
  const composer = new Composer({ schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false })
  const documents = composer.compose(tokens, true, source.text.length)
  const [document, second] = [documents.next().value, documents.next().value]
  if (!document) return { tree: undefined, findings: [] }
  const findings = [...toSyntaxFindings(source, tokens, document.errors), ...toTagFindings(source, document.warnings)]
  if (second && findings.length === 0) {
    const place = source.range(second.range[0], second.range[0] + 3)
    const suggestion = 'put each document into a file of its own'
    findings.push(finding('several-documents', place, 'a second YAML document begins here', { suggestion }))
  }
  if (findings.length > 0) return { tree: undefined, findings }
  const tree = new Tree(source, document.contents)
  return { tree, findings: [...tree.findings] }
}

/** Every token of the file with its depth, without recursion. */
function* walk(tokens: readonly CST.Token[]): Generator<{ token: CST.Token; depth: number }> {
  const stack = tokens.map((token) => ({ token, depth: 0 }))
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    yield next
    const { token, depth } = next
    if (token.type === 'document' && token.value) stack.push({ token: token.value, depth })
    if (!('items' in token)) continue
    for (const { key, value } of token.items) {
      if (key) stack.push({ token: key, depth: depth + 1 })
      if (value) stack.push({ token: value, depth: depth + 1 })
    }
  }
}

function findTooDeep(tokens: readonly CST.Token[]): number | undefined {
  for (const { token, depth } of walk(tokens)) if (depth > DEEPEST) return token.offset
  return undefined
}

/** Where the quoted text begins that runs up to `end` without being closed. */
function findOpenQuote(tokens: readonly CST.Token[], end: number): number | undefined {
  for (const { token } of walk(tokens)) {
    const isQuoted = token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar'
    if (isQuoted && token.offset < end && token.offset + token.source.length >= end) return token.offset
  }
  return undefined
}

// What the parser says is meant for those who know the grammar of YAML.
const WORDS: readonly (readonly [pattern: RegExp, message: string, suggestion?: string])[] = [
  [/^Missing closing/, 'the quote is not closed', 'add a quote where the text ends'],
  [
    /^Nested mappings/,
    'a mapping cannot begin in the middle of a line',
    'put the text in quotes if the colon belongs to it; else look at the indentation of the next line',
  ],
  [
    /^Implicit keys need to be on a single line/,
    'the line is indented like neither the one before nor a value of it',
    'give lines that belong together the same indentation',
  ],
  [
    /^All (mapping|sequence) items must start/,
    'the line is indented like neither the one before nor a value of it',
    'give lines that belong together the same indentation',
  ],
  [/^Implicit map keys need to be followed/, 'a key without a value', 'write a colon and a space after the key'],
  [
    /^Sequence item without/,
    'the line stands in a list and has no dash',
    'indent it like the keys above, or add a dash',
  ],
  [/^Flow (map|sequence) .*end with a/, 'the bracket before this is not closed', 'close it with ] or }'],
  [/^Plain value cannot start/, 'text cannot begin with this character', 'put the text in quotes'],
  [/^Invalid escape/, 'there is no such escape in double quotes', 'double the backslash, or use single quotes'],
  [
    /^Unexpected .* token in YAML stream|^Unexpected scalar at node end/,
    'this cannot follow what stands before it',
    'look at the indentation, quotes and brackets of this line and the one before',
  ],
]

const DEEPER = [
  null,
  'the line is indented deeper than the key before it, which has a value already',
  'give keys that belong together the same indentation',
] as const

/** Where a key begins that the parser takes for more of the text above it; undefined when that text has the colon. */
function findDeeperLine({ text }: Source, from: number): number | undefined {
  const [, before = ''] = /^([^\n:#"'[{]*(?:#[^\n]*)?\n\s*)[^\s#-][^\n]*:/.exec(text.slice(from)) ?? []
  return before === '' ? undefined : from + before.length
}

/** How to write a line of the form `key: text: more`, where the second colon belongs to the text. */
function suggestQuotes(source: Source, line: number): string | undefined {
  const [, key, text = ''] = /^[\s-]*([\w-]+):\s+([^\s"'[{|>&*!].*)$/.exec(source.line(line) ?? '') ?? []
  if (key === undefined || text.length > 100 || text.includes(' #')) return undefined
  const meant = text.trim().replace(/^PREV:\s+/, 'PREV:')
  return `write ${key}: ${quoted(meant)} if the colon belongs to the text; else look at the indentation of the next line`
}

/** One finding per line, and none after what could not be placed at all: that is the parser's own confusion. */
function toSyntaxFindings(source: Source, tokens: readonly CST.Token[], errors: readonly YAMLError[]): Finding[] {
  const byLine = new Map<number, Finding>()
  for (const { code, pos, message } of errors) {
    const [from, to] = pos
    const quote = message.startsWith('Missing closing') ? findOpenQuote(tokens, from) : undefined
    const deeper = /^Nested mappings|^Implicit keys need/.test(message) ? findDeeperLine(source, from) : undefined
    const mark = quote ?? deeper
    const place = mark === undefined ? source.range(from, to) : source.range(mark, mark + 1)
    if (byLine.has(place.line)) continue
    const known = WORDS.find(([pattern]) => pattern.test(message))
    const [, words = lower(message), suggestion] = deeper === undefined ? (known ?? []) : DEEPER
    const ours = code === 'TAG_RESOLVE_FAILED' ? 'unknown-tag' : 'yaml-syntax'
    const colon = message.startsWith('Nested mappings') ? suggestQuotes(source, place.line) : undefined
    const hint = colon === undefined || deeper !== undefined ? suggestion : colon
    byLine.set(place.line, findTab(source, place.line) ?? finding(ours, place, words, { suggestion: hint }))
    if (code === 'UNEXPECTED_TOKEN' && byLine.get(place.line)?.code !== 'tab-indent') break
  }
  return [...byLine.values()]
}

function findTab(source: Source, line: number): Finding | undefined {
  const tab = /^ *\t/.exec(source.line(line) ?? '')?.[0].length
  if (tab === undefined || source.file.endsWith('.json')) return undefined
  const place = { file: source.file, line, column: tab, endLine: line, endColumn: tab + 1 }
  return finding('tab-indent', place, 'a tab cannot indent a line', { suggestion: 'use spaces' })
}

function toTagFindings(source: Source, warnings: readonly YAMLError[]): Finding[] {
  return warnings.map(({ pos }) => {
    const suggestion = 'leave the tag out, or put the text in quotes if it begins with an exclamation mark'
    const message = `the tag ${source.text.slice(pos[0], pos[1])} is not known`
    return finding('unknown-tag', source.range(pos[0], pos[1]), message, { suggestion })
  })
}

const lower = (message: string) => message.charAt(0).toLowerCase() + message.slice(1)
