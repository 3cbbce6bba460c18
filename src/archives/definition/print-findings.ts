import { type Finding, findingCodes, printable } from './finding.ts'
import { decode, type FileBytes } from './source.ts'

export const FINDING_FORMATS = ['text', 'json', 'sarif', 'github'] as const
export type FindingFormat = (typeof FINDING_FORMATS)[number]

/** The findings as text of that format, with a line break at its end; `files` are what they were found in. */
export function printFindings(
  findings: readonly Finding[],
  files: readonly FileBytes[],
  format: FindingFormat,
): string {
  switch (format) {
    case 'text':
      return toText(findings, files)
    case 'json':
      return `${JSON.stringify(findings, null, 2)}\n`
    case 'sarif':
      return `${JSON.stringify(toSarif(findings), null, 2)}\n`
    case 'github':
      return findings.map((one) => `${toGithub(one)}\n`).join('')
    default:
      return format satisfies never
  }
}

/** With the lines around each place, and a summary at the end. */
function toText(findings: readonly Finding[], files: readonly FileBytes[]): string {
  const sources = new Map(files.map((file) => [file.path, decode(file).source]))
  const frames = findings.map((one) => {
    const { file, line, column, severity, code, message, suggestion, related } = one
    return [
      `${printable(file)}:${line}:${column} ${severity} ${code}: ${message}`,
      ...toFrame(one, (number) => sources.get(file)?.line(number)),
      ...(suggestion ? [`  ${suggestion}`] : []),
      ...related.map((place) => `  ${printable(place.file)}:${place.line}:${place.column} ${place.message}`),
      '',
    ].join('\n')
  })
  const count = (severity: string) => findings.filter((one) => one.severity === severity).length
  const summary = `${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')} in ${plural(files.length, 'file')}`
  return `${[...frames, summary].join('\n')}\n`
}

const WIDEST = 120

function toFrame(finding: Finding, lineAt: (number: number) => string | undefined): string[] {
  const { line, column, endLine, endColumn } = finding
  const numbers = [line - 1, line, line + 1].filter((number) => number >= 1 && lineAt(number) !== undefined)
  const width = String(line + 1).length
  return numbers.flatMap((number) => {
    const text = printable(lineAt(number) ?? '')
    const shown =
      `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text.slice(0, WIDEST)}`.trimEnd()
    if (number !== line || column > WIDEST) return [shown]
    const end = endLine === line ? Math.min(endColumn, WIDEST + 1) : text.length + 1
    // A tab stays a tab, so that the mark stands below what it marks.
    const space = text.slice(0, column - 1).replace(/[^\t]/g, ' ')
    return [shown, `  ${' '.repeat(width)} | ${space}${'^'.repeat(Math.max(1, end - column))}`]
  })
}

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

function toSarif(findings: readonly Finding[]): object {
  const codes = [...new Set(findings.map(({ code }) => code))]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'millrace workflow lint',
            rules: codes.map((code) => ({
              id: code,
              shortDescription: { text: findingCodes[code][2] },
              defaultConfiguration: { level: findingCodes[code][1] },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((one) => ({
          ruleId: one.code,
          ruleIndex: codes.indexOf(one.code),
          level: one.severity,
          message: { text: withSuggestion(one) },
          locations: [{ physicalLocation: toLocation(one) }],
          ...(one.related.length > 0 && {
            relatedLocations: one.related.map((place, id) => ({
              id,
              physicalLocation: toLocation(place),
              message: { text: place.message },
            })),
          }),
        })),
      },
    ],
  }
}

function toLocation({ file, line, column, endLine, endColumn }: Omit<Finding['related'][number], 'message'>): object {
  return {
    artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  }
}

const withSuggestion = ({ message, suggestion }: Finding) => (suggestion ? `${message} (${suggestion})` : message)

/** A workflow command of GitHub Actions, which shows the finding beside the line. */
function toGithub(one: Finding): string {
  const { severity, file, line, column, endLine, endColumn, code } = one
  const value = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  // A column range is only understood within one line.
  const columns = endLine === line ? `,col=${column},endColumn=${endColumn}` : ''
  const place = `file=${value(file)},line=${line},endLine=${endLine}${columns},title=${value(code)}`
  return `::${severity} ${place}::${escapeData(withSuggestion(one))}`
}

const escapeData = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
