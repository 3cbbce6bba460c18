export type Severity = 'error' | 'warning'

/** Where in a file: lines and columns count from 1, columns in UTF-16 units, the end is the first place after. */
export type Range = {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

export type Related = Range & { readonly file: string; readonly message: string }

/** One thing that is wrong, or likely wrong, with the workflow files of a revision. */
export type Finding = Range & {
  readonly code: FindingCode
  readonly severity: Severity
  readonly file: string
  readonly message: string
  /** What to write or do instead, where that can be said. */
  readonly suggestion: string | null
  readonly related: readonly Related[]
}

type Layer = 'file' | 'YAML' | 'shape' | 'meaning'
type Row = readonly [layer: Layer, severity: Severity, sentence: string]

// biome-ignore format: one line per code is the table of the guide
export const findingCodes = {
  'too-large':          ['file', 'error', 'The file is over 128 KiB, all files together are over 512 KiB, or there are more than 50.'],
  'not-utf8':           ['file', 'error', 'The file is not UTF-8.'],
  'control-character':  ['file', 'error', 'The file holds a control character other than tab and line break.'],
  'more-findings':      ['file', 'warning', 'There are more findings than are shown.'],
  'empty-file':         ['file', 'warning', 'The file is empty, or holds nothing but comments or an empty list of tasks.'],
  'yaml-syntax':        ['YAML', 'error', 'The file is not well-formed YAML.'],
  'json-syntax':        ['YAML', 'error', 'A `.json` file is not well-formed JSON.'],
  'tab-indent':         ['YAML', 'error', 'A tab indents a line; YAML takes spaces only.'],
  'several-documents':  ['YAML', 'error', 'The file holds more than one YAML document.'],
  'duplicate-key':      ['YAML', 'error', 'A key stands twice in one mapping.'],
  'bad-key':            ['YAML', 'error', 'A key is not text.'],
  'merge-key':          ['YAML', 'error', 'The merge key `<<` is not supported; `defaults` serves most of its uses.'],
  'unknown-tag':        ['YAML', 'error', 'A value carries a tag such as `!include`.'],
  'unknown-alias':      ['YAML', 'error', 'An alias `*name` has no anchor `&name` before it.'],
  'cyclic-alias':       ['YAML', 'error', 'An alias stands inside what it refers to.'],
  'too-many-aliases':   ['YAML', 'error', 'Aliases expand to more than 10,000 values.'],
  'too-deep':           ['YAML', 'error', 'Values are nested more than 30 levels deep.'],
  'wrong-type':         ['shape', 'error', 'A value is of another kind than the key takes.'],
  'wrong-value':        ['shape', 'error', 'A value is none of those that the key takes.'],
  'unknown-key':        ['shape', 'error', 'There is no such key here.'],
  'missing-key':        ['shape', 'error', 'A key that must be given is missing.'],
  'missing-name':       ['shape', 'error', 'A task has no name.'],
  'out-of-range':       ['shape', 'error', 'A number or a duration is smaller or larger than allowed.'],
  'bad-name':           ['shape', 'error', 'A name of a task, a workflow or a queue holds characters it may not hold, or is too long.'],
  'bad-reference':      ['shape', 'error', 'An entry of `depends` or `cancels` is neither `name`, `PREV` nor `PREV:name`.'],
  'bad-command':        ['shape', 'error', 'A command is empty, or a quote in it is not closed.'],
  'bad-image':          ['shape', 'error', 'An image is not a reference such as `registry/path:tag`.'],
  'bad-duration':       ['shape', 'error', 'A duration is not written like `90s`, `10m`, `2h` or `1h30m`.'],
  'bad-cron':           ['meaning', 'error', 'A cron expression does not have five valid fields.'],
  'bad-timezone':       ['meaning', 'error', 'A time zone is not in the IANA database.'],
  'impossible-date':    ['meaning', 'error', 'A cron expression names a date that never comes, such as 30 February.'],
  'bad-glob':           ['shape', 'error', 'A path pattern is malformed.'],
  'bad-condition':      ['shape', 'error', 'The condition of `if` is malformed.'],
  'bad-env-name':       ['shape', 'error', 'The name of a variable, a secret or an input is malformed or reserved.'],
  'artifact-escapes':   ['shape', 'error', 'An artifact lies outside the workspace.'],
  'too-many-tasks':     ['meaning', 'error', 'The files of one revision define more than 1,000 tasks.'],
  'duplicate-task':     ['meaning', 'error', 'Two tasks of the archive have the same name.'],
  'duplicate-workflow': ['meaning', 'error', 'Two files define workflows of the same name.'],
  'duplicate-entry':    ['meaning', 'warning', 'An entry stands twice in one list.'],
  'duplicate-input':    ['meaning', 'error', 'Two inputs would reach the tasks as the same variable.'],
  'reserved-name':      ['meaning', 'error', 'A task is called `PREV`, or is called `COMMIT` and has more than `depends`.'],
  'unknown-depends':    ['meaning', 'error', '`depends` names a task that no file of this revision defines.'],
  'unknown-cancels':    ['meaning', 'error', '`cancels` names a task that no file of this revision defines.'],
  'unknown-previous':   ['meaning', 'warning', '`PREV:name` names a task that no file of this revision defines.'],
  'unknown-uses':       ['meaning', 'error', '`uses` names something that is not built in.'],
  'unknown-input':      ['meaning', 'error', 'A condition asks for an input that the workflow does not declare.'],
  'bad-default':        ['meaning', 'error', 'The default of an input is none of its options, or a required input has one.'],
  'cycle':              ['meaning', 'error', 'Tasks of one revision wait for each other.'],
  'never-met':          ['meaning', 'error', 'The requirements of a task contradict each other, so that it can never run.'],
  'nothing-to-run':     ['meaning', 'error', 'A task has neither `command` nor `script` nor `uses`.'],
  'command-and-script': ['meaning', 'error', 'A task has more than one of `command`, `script` and `uses`.'],
  'shell-without-script': ['meaning', 'error', '`shell` is given without `script`.'],
  'useless-key':        ['meaning', 'warning', 'A key has no effect beside `uses`.'],
  'command-needs-shell': ['meaning', 'warning', 'A command holds signs that only a shell understands; it is run without one.'],
  'secret-in-env':      ['meaning', 'error', 'A variable is both in `env` and in `secrets`.'],
  'self-cancel':        ['meaning', 'error', 'A task cancels itself; `PREV` was probably meant.'],
  'cancels-commit':     ['meaning', 'error', '`COMMIT` cannot be canceled.'],
  'cancel-never-fires': ['meaning', 'warning', 'What a task cancels is always over by the time it becomes ready.'],
  'no-trigger':         ['meaning', 'warning', 'Nothing but a person starts the workflow, because `on` is empty.'],
  'unreachable-task':   ['meaning', 'warning', 'A task can never run: its condition never holds, or it waits for the failure of such a task.'],
} as const satisfies Record<string, Row>

export type FindingCode = keyof typeof findingCodes

export type FindingDetail = { readonly suggestion?: string | undefined; readonly related?: readonly Related[] }

/** A finding of that code; the severity is the code's. */
export function finding(
  code: FindingCode,
  place: Range & { readonly file: string },
  message: string,
  detail: FindingDetail = {},
): Finding {
  const { file, line, column, endLine, endColumn } = place
  return {
    code,
    severity: findingCodes[code][1],
    file,
    line,
    column,
    endLine,
    endColumn,
    message: inOneLine(message),
    suggestion: detail.suggestion === undefined ? null : inOneLine(detail.suggestion),
    related: detail.related ?? [],
  }
}

const LONGEST = 1000

/** What is said may quote the file: no more of it than can be read, and nothing that moves the cursor of a terminal. */
function inOneLine(text: string): string {
  const clipped = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  return printable(clipped.replace(/\s+/g, ' '))
}

/** The text without what a terminal would take for a command, in as many characters. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd')
}

// Tabs stay: they indent. The others steer the terminal, or turn the direction of writing around.
const UNPRINTABLE = /(?!\t)[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** By file and place, each thing once: an aliased value is checked wherever it is used, and lies in one place. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const byPlace = new Map(findings.map((one) => [`${place(one)} ${one.code} ${one.message}`, one]))
  return [...byPlace.values()].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.code, b.code),
  )
}

const place = ({ file, line, column }: Finding) => `${file}:${line}:${column}`
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** The table of all codes for the guide. */
export function codesTable(): string {
  const rows = Object.entries(findingCodes).map(
    ([code, [layer, severity, sentence]]) => `| \`${code}\` | ${severity} | ${layer} | ${sentence} |`,
  )
  return ['| code | severity | layer | means |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
