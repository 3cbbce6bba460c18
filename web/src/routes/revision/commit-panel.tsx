import { formatCount, formatDuration } from '../../format.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { Revision } from './graph-of-revision.ts'

const SHOWN = 12

const actions: Readonly<Record<string, string>> = { A: 'added', M: 'changed', D: 'deleted', R: 'replaced' }

/** What was committed, by whom, when, and when the hook said so. */
export function CommitPanel({ name, found }: { readonly name: string; readonly found: Revision }) {
  return (
    <Panel title="Commit">
      <div className="revision-commit">
        <div className="stack">
          <p className="revision-message name">{found.message === '' ? <i>no message</i> : found.message}</p>
          <Facts
            of={{
              Author: found.author ?? 'nobody',
              Committed: <RelativeTime at={found.date} />,
              Announced: <Announced found={found} />,
              Planned: <RelativeTime at={found.planned_at} />,
              Commit:
                found.id === String(found.number) ? undefined : (
                  <span className="row">
                    <code>{found.id}</code>
                    <CopyButton text={found.id} label="Copy the commit" />
                  </span>
                ),
              Transaction: found.txn === null ? undefined : <code>{found.txn}</code>,
              'Made by': found.cause === null ? undefined : <code>{found.cause}</code>,
              Archive: name,
            }}
          />
        </div>
        <Paths found={found} />
      </div>
    </Panel>
  )
}

/** The hook's time and how long after the commit that was. Clocks of others may be wrong: never less than nothing. */
function Announced({ found: { announced_at: at, date } }: { readonly found: Revision }) {
  if (at === null) return <span className="muted">by no hook: it was found by looking</span>
  const late = date === null ? undefined : Date.parse(at) - Date.parse(date)
  return (
    <>
      <RelativeTime at={at} />
      {late !== undefined && late > 0 && <span className="muted">, {formatDuration(late)} after the commit</span>}
    </>
  )
}

function Paths({ found: { changes, changes_cut: isCut } }: { readonly found: Revision }) {
  if (changes.length === 0) return <p className="muted">No paths are known.</p>
  const [first, rest] = [changes.slice(0, SHOWN), changes.slice(SHOWN)]
  return (
    <section className="revision-paths" aria-label="Changed paths">
      <h3>
        {formatCount(changes.length)}
        {isCut && ' or more'} changed {changes.length === 1 ? 'path' : 'paths'}
      </h3>
      <PathList changes={first} />
      {rest.length > 0 && (
        <details>
          <summary>{formatCount(rest.length)} more</summary>
          <PathList changes={rest} />
        </details>
      )}
      {isCut && <p className="muted">There are more than are kept; the repository has all of them.</p>}
    </section>
  )
}

function PathList({ changes }: { readonly changes: Revision['changes'] }) {
  return (
    <ul>
      {changes.map(([action, path]) => (
        <li key={`${action} ${path}`}>
          <abbr className={`revision-action revision-action-${action}`} title={actions[action] ?? action}>
            {action}
          </abbr>
          <span className="mono name">{path}</span>
        </li>
      ))}
    </ul>
  )
}
