import { AlertTriangle } from 'lucide-react'
import { memo } from 'react'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { archiveLooks, StateBadge } from '../parts/state-badge.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { Frontier } from './archives/frontier.tsx'
import { gapText } from './archives/gap-text.ts'
import { MiniLoom } from './archives/mini-loom.tsx'
import './archives.css'

export type ArchiveItem = BodyAnswered<typeof routes.archives.list>['items'][number]

const asked = { query: { include: 'frontier', limit: 100 } } as const
const ADD = 'millrace archive add My-Project --svn file:///srv/svn/my-project'

export function Archives() {
  const list = useCall(routes.archives.list, asked)
  // One list, once a second at most: what is the same in it stays the same object, so that only rows that changed are drawn.
  useFresh(['archive:*'], [routes.archives.list.name])
  return (
    <Page title="Archives" summary="Repositories that are watched: what is committed there runs here, in order.">
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="No repository is watched" command={ADD}>
              Name one, and each of its commits starts the workflows that lie in its folder <code>_workflows</code>.
              Then <code>millrace hook install</code> tells of commits at once.
            </EmptyState>
          }
        >
          {({ items, next_cursor: more }) => (
            <>
              <ul className="archives" aria-label="Archives">
                {items.map((archive) => (
                  <Archive key={archive.name} archive={archive} />
                ))}
              </ul>
              {more !== null && (
                <p className="archives-more muted">
                  The first {items.length} by name. <code>millrace archive ls</code> lists them all; an address{' '}
                  <code>/archives/NAME</code> leads to each.
                </p>
              )}
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  )
}

const Archive = memo(function Archive({ archive }: { readonly archive: ArchiveItem }) {
  const { name, state, source, planned, problem, frontier } = archive
  const gap = frontier?.gap ?? null
  return (
    <li className="archives-item">
      <div className="archives-name">
        <Link to="/archives/$name" params={{ name }} className="name archives-link">
          {name}
        </Link>
        {state !== 'active' && <StateBadge look={archiveLooks[state]} />}
        <span className="archives-source name" title={source.type === 'push' ? undefined : source.url}>
          {source.type === 'push' ? 'push: revisions are announced' : `${source.type} ${source.url}`}
        </span>
      </div>
      <div className="archives-last">
        {planned.number >= archive.first ? (
          <Link to="/archives/$name/r/$rev" params={{ name, rev: String(planned.number) }} className="mono">
            r{planned.number}
          </Link>
        ) : (
          <span className="muted">no revision yet</span>
        )}
        <span className="muted archives-when">
          {archive.announced_at !== null ? (
            <>
              told <RelativeTime at={archive.announced_at} />
            </>
          ) : archive.looked_at !== null ? (
            <>
              looked at <RelativeTime at={archive.looked_at} />
            </>
          ) : null}
        </span>
      </div>
      <MiniLoom name={name} revisions={frontier?.revisions ?? []} />
      <Frontier name={name} tasks={frontier?.tasks ?? []} />
      {gap !== null && (
        <p className="archives-warning">
          <AlertTriangle aria-hidden size={15} /> {gapText(gap, state)}
        </p>
      )}
      {problem !== null && (
        <p className="archives-warning archives-broken">
          <AlertTriangle aria-hidden size={15} />
          <span>
            {problem.message}{' '}
            <span className="muted">
              since <RelativeTime at={problem.since} />.
            </span>{' '}
            {problem.remedy !== null && <span>What to do: {problem.remedy}</span>}
          </span>
        </p>
      )}
    </li>
  )
})
