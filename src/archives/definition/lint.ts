import { checkShape } from './check-shape.ts'
import { type Finding, type FindingCode, finding, sortFindings } from './finding.ts'
import { isMapping } from './is-mapping.ts'
import { lintGraph } from './lint-graph.ts'
import { lintNames } from './lint-names.ts'
import { lintReferences } from './lint-references.ts'
import { lintTask } from './lint-tasks.ts'
import { lintTriggers } from './lint-triggers.ts'
import { outline } from './outline.ts'
import { parseTree } from './parse-tree.ts'
import { decode, type FileBytes, Source } from './source.ts'
import type { Tree } from './tree.ts'

const MOST_FILES = 50
// Parsing takes up to ten seconds per megabyte when someone tries hard, and nothing else happens meanwhile.
const MOST_BYTES_OF_A_FILE = 128 * 1024
const MOST_BYTES = 512 * 1024
const MOST_FINDINGS = 500

export type Linted = {
  /** By file and place. */
  readonly findings: readonly Finding[]
  /** The files that could be read, whatever was found in them. */
  readonly trees: readonly Tree[]
}

/** Everything that is wrong with the workflow files of one revision, in one go: as YAML, in shape, and in meaning. */
export function lint(files: readonly FileBytes[]): Linted {
  const findings: Finding[] = []
  const trees: Tree[] = []
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1))
  let bytes = 0
  for (const [i, file] of sorted.entries()) {
    bytes += file.bytes.length
    const tooLarge = findTooLarge(file, i, bytes)
    if (tooLarge) findings.push(tooLarge)
    else {
      const read = readTree(file)
      findings.push(...read.findings)
      if (read.tree) trees.push(read.tree)
    }
  }
  const isComplete = trees.length === files.length
  const outlines = trees.filter(({ value }) => value !== null).map(outline)
  findings.push(
    ...trees.flatMap((tree) => (tree.value === null ? [] : checkShape(tree))),
    ...lintNames(outlines),
    ...lintReferences(outlines, isComplete),
    ...outlines.flatMap((file) => [...lintTriggers(file), ...file.tasks.flatMap(lintTask)]),
    ...lintGraph(outlines),
  )
  return { findings: limit(sortFindings(findings)), trees }
}

function findTooLarge({ path, bytes }: FileBytes, position: number, total: number): Finding | undefined {
  const place = new Source(path, '').range(0, 0)
  const tooLarge = (message: string) => finding('too-large', place, message)
  if (position >= MOST_FILES) return tooLarge(`this is file ${position + 1}; an archive has at most ${MOST_FILES}`)
  const size = (count: number) => `${count.toLocaleString('en')} bytes`
  if (bytes.length > MOST_BYTES_OF_A_FILE)
    return tooLarge(`the file has ${size(bytes.length)}; at most ${size(MOST_BYTES_OF_A_FILE)} are read`)
  if (total > MOST_BYTES)
    return tooLarge(`with this file there are ${size(total)}; at most ${size(MOST_BYTES)} are read`)
  return undefined
}

// After these it is not known what the author meant, and whatever else is said would be guesswork.
const UNREADABLE: readonly FindingCode[] = ['unknown-alias', 'cyclic-alias', 'too-many-aliases', 'merge-key']

function readTree(file: FileBytes): { tree: Tree | undefined; findings: Finding[] } {
  const { source, problem } = decode(file)
  if (problem) return { tree: undefined, findings: [problem] }
  const { tree, findings } = parseTree(source)
  if (tree === undefined || findings.some(({ code }) => UNREADABLE.includes(code))) return { tree: undefined, findings }
  const tasks = isMapping(tree.value) ? tree.value['tasks'] : tree.value
  const isEmpty = tree.value === null || (Array.isArray(tasks) && tasks.length === 0)
  if (isEmpty) findings.push(finding('empty-file', source.range(0, 0), 'the file defines no tasks'))
  return { tree, findings }
}

/** Errors are kept before warnings: a revision with an error must not pass for one without. */
function limit(findings: readonly Finding[]): Finding[] {
  if (findings.length <= MOST_FINDINGS) return [...findings]
  const isError = ({ severity }: Finding) => severity === 'error'
  const [errors, warnings] = [findings.filter(isError), findings.filter((one) => !isError(one))]
  const kept = sortFindings([...errors, ...warnings].slice(0, MOST_FINDINGS - 1))
  const message = `there are ${findings.length - kept.length} more findings`
  return [...kept, finding('more-findings', kept.at(-1) as Finding, message)]
}
