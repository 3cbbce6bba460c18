import { useEffect, useRef } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { linesOf } from './diff-lines.ts'
import './source.css'

export type Mark = { readonly line: number; readonly severity: 'error' | 'warning'; readonly message: string }

type SourceViewProps = {
  readonly path: string
  readonly text: string
  readonly marks?: readonly Mark[]
  /** The line that is linked to: it is brought into sight. */
  readonly line?: number | undefined
}

const glyphs = { error: '✕', warning: '!' } as const

/** A file with its lines numbered, and what is wrong with them beside them. */
export function SourceView({ path, text, marks = [], line }: SourceViewProps) {
  const meant = useRef<HTMLElement>(null)
  useEffect(() => {
    if (line !== undefined) meant.current?.scrollIntoView({ block: 'center' })
  }, [line])
  const byLine = new Map<number, Mark>()
  for (const mark of marks) if (byLine.get(mark.line)?.severity !== 'error') byLine.set(mark.line, mark)
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={path} className="source">
        {linesOf(text).map((content, i) => {
          const mark = byLine.get(i + 1)
          return (
            <code
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              key={i}
              ref={i + 1 === line ? meant : undefined}
              className={`source-line ${mark === undefined ? '' : `source-${mark.severity}`}`}
              data-meant={i + 1 === line || undefined}
              title={mark?.message}
            >
              <span className="source-number" aria-hidden="true">
                {i + 1}
              </span>
              <span className="source-mark" aria-hidden="true">
                {mark === undefined ? ' ' : glyphs[mark.severity]}
              </span>
              {mark !== undefined && <span className="visually-hidden">{`${mark.severity}: ${mark.message}. `}</span>}
              {content}
              {'\n'}
            </code>
          )
        })}
      </pre>
      <CopyButton text={text} label={`Copy ${path}`} />
    </div>
  )
}
