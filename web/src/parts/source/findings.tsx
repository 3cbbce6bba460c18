import type { ReactNode } from 'react'
import { codeFrame } from './code-frame.ts'
import './source.css'

export type Finding = {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly suggestion: string | null
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
  readonly end_line?: number
  readonly end_column?: number
  readonly related?: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly message: string
  }[]
}

type FindingsProps = {
  readonly findings: readonly Finding[]
  /** The text of a file; undefined: it is not known. */
  readonly textOf: (file: string) => string | undefined
  /** A link to a line of a file around the given words. */
  readonly linkTo: (file: string, line: number, words: ReactNode) => ReactNode
}

const looks = { error: ['✕', 'error'], warning: ['!', 'warning'] } as const

/** What is wrong with workflow files: where, what, what to do, and the lines themselves. */
export function Findings({ findings, textOf, linkTo }: FindingsProps) {
  return (
    <ol className="findings">
      {findings.map((finding) => (
        <li key={JSON.stringify(finding)} className={`finding finding-${finding.severity}`}>
          <p className="row">
            <strong className="finding-severity">
              <span aria-hidden="true">{looks[finding.severity][0]}</span> {looks[finding.severity][1]}
            </strong>
            {finding.file !== null && <Place finding={finding} linkTo={linkTo} />}
            <code className="muted">{finding.code}</code>
          </p>
          <p className="name">{finding.message}</p>
          {finding.suggestion !== null && <p className="muted name">What to do: {finding.suggestion}</p>}
          <CodeFrame finding={finding} textOf={textOf} />
          {finding.related?.map(({ file, line, column, message }) => (
            <p key={`${file} ${line} ${column}`} className="muted name">
              {linkTo(file, line, <span className="mono">{`${file}:${line}:${column}`}</span>)} {message}
            </p>
          ))}
        </li>
      ))}
    </ol>
  )
}

function Place({ finding: { file, line, column }, linkTo }: { finding: Finding; linkTo: FindingsProps['linkTo'] }) {
  if (file === null) return null
  if (line === null) return <span className="mono name">{file}</span>
  const words = <span className="mono name">{`${file}:${line}${column === null ? '' : `:${column}`}`}</span>
  return linkTo(file, line, words)
}

function CodeFrame({ finding, textOf }: { finding: Finding; textOf: FindingsProps['textOf'] }) {
  const { file, line, column } = finding
  const text = file === null ? undefined : textOf(file)
  if (text === undefined || line === null) return null
  const frame = codeFrame(text, {
    line,
    column: column ?? 1,
    ...(finding.end_line === undefined ? {} : { endLine: finding.end_line }),
    ...(finding.end_column === undefined ? {} : { endColumn: finding.end_column }),
  })
  if (frame === undefined) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <pre className="source finding-frame" tabIndex={0} role="group" aria-label={`${file} around line ${line}`}>
      {frame.lines.map(({ number, text: content, isMeant }) => (
        <span key={number}>
          <code className="source-line" data-meant={isMeant || undefined}>
            <span className="source-number" aria-hidden="true">
              {number}
            </span>
            <span className="source-mark" aria-hidden="true">
              {isMeant ? '>' : ' '}
            </span>
            {content}
            {'\n'}
          </code>
          {isMeant && (
            <span className="source-line finding-pointer" aria-hidden="true">
              <span className="source-number" />
              <span className="source-mark"> </span>
              {' '.repeat(frame.indent)}
              {'^'.repeat(frame.length)}
              {'\n'}
            </span>
          )}
        </span>
      ))}
    </pre>
  )
}
