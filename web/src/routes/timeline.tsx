import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { call, routes } from '../api.ts'
import { clock } from '../clock.ts'
import { formatInstant } from '../format.ts'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { useNow } from '../parts/time.tsx'
import { archiveOf } from '../tasks/task-name.ts'
import { Chart } from './timeline/chart.tsx'
import { Details, useTypical } from './timeline/details.tsx'
import { type Fold, type Timeline as Found, folds, type Item, rowsOf } from './timeline/rows-of.ts'
import { TimelineTable } from './timeline/table.tsx'
import { useEventsOf } from './timeline/use-events-of.ts'
import { fitWindow, panBy, readZoom, type Window, writeZoom, zoomBy } from './timeline/window.ts'
import './timeline/timeline.css'

const page = getRouteApi('/shell/timeline')

const spans: Readonly<Record<string, number>> = { '15m': 900_000, '1h': 3_600_000, '6h': 21_600_000, '24h': 86_400_000 }
const LONGEST_MS = 86_400_000
const MOST = 500

type Search = ReturnType<typeof page.useSearch>

/** Asks for the part of time that the address names; for the last hour up to the moment of asking. */
function ask({ scope, archive, rev, worker, from, to, span }: Search, signal: AbortSignal): Promise<Found> {
  const query = () => {
    if (archive !== undefined && rev !== undefined) return { archive, rev: Number(rev) }
    if (scope !== undefined) return { scope }
    const of = worker === undefined ? {} : { worker: Number(worker) }
    if (from !== undefined) return { ...of, from, ...(to === undefined ? {} : { to }) }
    return { ...of, from: new Date(clock.now() - (spans[span ?? '1h'] ?? 3_600_000)).toISOString() }
  }
  return call(routes.timeline.get, { query: { ...query(), limit: MOST } }, { signal })
}

const titleOf = ({ scope, archive, rev, worker }: Search) => {
  if (archive !== undefined) return `Timeline of r${rev} of ${archive}`
  if (scope !== undefined) return `Timeline of ${scope}`
  return worker === undefined ? 'Timeline' : `Timeline of worker ${worker}`
}

/** Where the time of tasks went: of a revision, a scope, a worker, or of all. */
export function Timeline() {
  const search = page.useSearch()
  const { scope, archive, rev, worker, from, to, span } = search
  const asked = { scope, archive, rev, worker, from, to, span }
  const query = useQuery({ queryKey: [routes.timeline.get.name, asked], queryFn: ({ signal }) => ask(search, signal) })
  useEventsOf(asked)
  return (
    <Page
      title={titleOf(search)}
      crumbs={
        archive !== undefined && rev !== undefined ? (
          <>
            <Link to="/archives/$name" params={{ name: archive }} className="name">
              {archive}
            </Link>
            <Link to="/archives/$name/r/$rev" params={{ name: archive, rev }}>
              r{rev}
            </Link>
          </>
        ) : undefined
      }
      summary={archive === undefined && scope === undefined ? <Spans search={search} /> : undefined}
    >
      <Loaded
        query={query}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <Panel>
            <EmptyState title="Nothing ran in this time">Choose a longer one, or wait for the next commit.</EmptyState>
          </Panel>
        }
      >
        {(found) => <Content found={found} />}
      </Loaded>
    </Page>
  )
}

function Spans({ search: { worker, from, to, span = '1h' } }: { readonly search: Search }) {
  return (
    <nav className="row timeline-spans" aria-label="How much time">
      {Object.keys(spans).map((one) => (
        <Link
          key={one}
          to="/timeline"
          search={{ ...(worker === undefined ? {} : { worker }), span: one }}
          aria-current={from === undefined && span === one ? 'true' : undefined}
        >
          last {one.replace('m', ' min').replace('h', ' h')}
        </Link>
      ))}
      {from !== undefined && (
        <span className="muted">
          {formatInstant(Date.parse(from))} – {to === undefined ? 'now' : formatInstant(Date.parse(to))}
        </span>
      )}
    </nav>
  )
}

function Content({ found }: { readonly found: Found }) {
  const search = page.useSearch()
  const navigate = page.useNavigate()
  const isNarrow = useIsNarrow()
  const now = useNow()
  const fold = folds.find((one) => one === search.fold)
  const isHiding = search.hide === '1'
  const rows = useMemo(() => rowsOf(found, { fold, isHiding }), [found, fold, isHiding])
  const fit = fitWindow(
    rows.flatMap(({ bars }) => bars),
    now,
  )
  const window = readZoom(search.zoom) ?? fit
  const [looked, setLooked] = useState<Item>()
  const item = found.items.find(({ id }) => id === looked?.id)
  const typical = useTypical(item)
  const set = (next: Partial<Search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true, resetScroll: false })
  const show = (next: Window) => set({ zoom: writeZoom(next) })
  const toFit = () => set({ zoom: undefined })
  const isInArchive = search.archive !== undefined || archiveOf(search.scope ?? '') !== undefined
  const isTable = search.view === 'table'
  useKeys(
    [
      { key: '+', label: 'Zoom in', run: () => show(zoomBy(window, 2)), isMove: true },
      { key: '-', label: 'Zoom out', run: () => show(zoomBy(window, 0.5)), isMove: true },
      { key: 'ArrowLeft', label: 'Earlier', run: () => show(panBy(window, -0.25)), isMove: true },
      { key: 'ArrowRight', label: 'Later', run: () => show(panBy(window, 0.25)), isMove: true },
      { key: '0', label: 'Fit', run: toFit },
      { key: 'h', label: 'Hide or show what is over', run: () => set({ hide: isHiding ? undefined : '1' }) },
    ],
    'Timeline',
  )
  return (
    <Panel
      title={`${found.items.length} ${found.items.length === 1 ? 'task' : 'tasks'}`}
      isFlush
      actions={
        <>
          <label className="row timeline-fold">
            Fold by
            <select
              className="input"
              value={fold ?? ''}
              onChange={(event) => set({ fold: (event.target.value || undefined) as Fold })}
            >
              <option value="">nothing</option>
              {folds.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <Button kind="quiet" aria-pressed={isHiding} onClick={() => set({ hide: isHiding ? undefined : '1' })}>
            Hide completed
          </Button>
          <Button kind="quiet" aria-label="Zoom out" onClick={() => show(zoomBy(window, 0.5))}>
            −
          </Button>
          <Button kind="quiet" aria-label="Zoom in" onClick={() => show(zoomBy(window, 2))}>
            +
          </Button>
          <Button kind="quiet" onClick={toFit}>
            Fit
          </Button>
          <Button kind="quiet" aria-pressed={isTable} onClick={() => set({ view: isTable ? undefined : 'table' })}>
            Table
          </Button>
        </>
      }
    >
      {found.is_cut && (
        <Cut window={window} onNarrow={search.archive === undefined && search.scope === undefined ? set : undefined} />
      )}
      {isTable ? (
        <TimelineTable
          items={isHiding ? rows.flatMap((row) => row.items) : found.items}
          critical={found.critical}
          isInArchive={isInArchive}
        />
      ) : (
        <>
          <Legend />
          <Chart
            rows={rows}
            window={window}
            now={now}
            isNarrow={isNarrow}
            isInArchive={isInArchive}
            typical={typical.bracket}
            onZoom={show}
            onFit={toFit}
            onLook={setLooked}
          />
          <Details
            item={item}
            now={now}
            typical={typical.words}
            isInArchive={isInArchive}
            isCritical={item !== undefined && found.critical.includes(item.id)}
          />
        </>
      )}
    </Panel>
  )
}

type CutProps = { readonly window: Window; readonly onNarrow: ((search: Partial<Search>) => void) | undefined }

/** That there is more, and how to get it. */
function Cut({ window, onNarrow }: CutProps) {
  const isShort = window.to - window.from <= LONGEST_MS
  return (
    <p className="timeline-cut" role="status">
      Only {MOST} tasks are shown; there are more.{' '}
      {onNarrow !== undefined && isShort && (
        <Button
          kind="quiet"
          onClick={() =>
            onNarrow({
              from: new Date(window.from).toISOString(),
              to: new Date(window.to).toISOString(),
              span: undefined,
              zoom: undefined,
            })
          }
        >
          Fetch only what is in sight
        </Button>
      )}
    </p>
  )
}

const legend = [
  ['waiting', 'waiting for others'],
  ['ready', 'ready, no slot'],
  ['running', 'running'],
  ['delayed', 'waiting to retry'],
  ['held', 'held'],
] as const

function Legend() {
  return (
    <ul className="timeline-legend" aria-label="What the bars mean">
      {legend.map(([kind, words]) => (
        <li key={kind}>
          <svg width={18} height={10} aria-hidden="true">
            <rect
              className={`timeline-bar timeline-${kind} timeline-of-${kind}`}
              y={kind === 'running' ? 1 : 3}
              width={18}
              height={kind === 'running' ? 8 : 5}
              rx={2}
            />
          </svg>
          {words}
        </li>
      ))}
      <li>▸ thick: critical path</li>
    </ul>
  )
}
