import { diffLines, toHunks } from './diff-lines.ts'
import './source.css'

type DiffViewProps = { readonly path: string; readonly before: string; readonly after: string }

const said = { '+': 'added: ', '-': 'removed: ', ' ': '' } as const

/** What has changed in a file, by lines: added ones with a plus, removed ones with a minus. */
export function DiffView({ path, before, after }: DiffViewProps) {
  const lines = diffLines(before, after)
  const hunks = toHunks(lines)
  const count = (sign: '+' | '-') => lines.filter((line) => line.sign === sign).length
  const shown = hunks.reduce((sum, hunk) => sum + hunk.lines.length + hunk.skipped, 0)
  return (
    <figure className="diff">
      <figcaption className="row">
        <span className="mono name">{path}</span>
        <span className="diff-count-added">+{count('+')}</span>
        <span className="diff-count-removed">−{count('-')}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={`Changes of ${path}`} className="source">
        {hunks.map((hunk) => (
          <span key={`${hunk.lines[0]?.before} ${hunk.lines[0]?.after}`}>
            {hunk.skipped > 0 && <Skipped count={hunk.skipped} />}
            {hunk.lines.map(({ sign, text, before: old, after: now }) => (
              <code
                key={`${old} ${now}`}
                className={`source-line diff-line-${sign === '+' ? 'added' : sign === '-' ? 'removed' : 'same'}`}
              >
                <span className="source-number" aria-hidden="true">
                  {old ?? ''}
                </span>
                <span className="source-number" aria-hidden="true">
                  {now ?? ''}
                </span>
                <span className="source-mark" aria-hidden="true">
                  {sign}
                </span>
                <span className="visually-hidden">{said[sign]}</span>
                {text}
                {'\n'}
              </code>
            ))}
          </span>
        ))}
        {shown < lines.length && <Skipped count={lines.length - shown} />}
      </pre>
    </figure>
  )
}

function Skipped({ count }: { readonly count: number }) {
  return (
    <span className="diff-skipped">
      {count} equal {count === 1 ? 'line' : 'lines'}
      {'\n'}
    </span>
  )
}
