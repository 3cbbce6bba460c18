import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, GanttChart, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { queryOf, routes, useCall, useRefusal } from '../api.ts'
import { useKeys } from '../keys.ts'
import { useFresh, useFreshWhenShown, useLive } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/panel.tsx'
import { revisionLooks, StateBadge } from '../parts/state-badge.tsx'
import { RevisionContent } from './revision/content.tsx'
import type { Revision as Found } from './revision/graph-of-revision.ts'
import { patchRevision } from './revision/patch-revision.ts'
import { Rerun, rerunnable } from './revision/rerun.tsx'
import './revision/revision.css'

const page = getRouteApi('/shell/archives/$name/r/$rev')

/** One revision: what was committed, and what came of it. */
export function Revision() {
  const { name, rev } = page.useParams()
  const revision = useCall(routes.archives.revision, { params: { name, rev: Number(rev) } })
  const archive = useCall(routes.archives.get, { params: { name } })
  useFresh([`archive:${name}`], ['archives.get'])
  usePatches(name, rev)
  const number = Number(rev)
  const youngest = archive.data?.planned.number
  const previous = revision.data?.previous ?? undefined
  const next = youngest !== undefined && youngest > number ? number + 1 : undefined
  const [asked, setAsked] = useState<'failed' | 'all'>()
  const go = useGo(name, rev)
  const refusal = useRefusal(routes.runs.rerun)
  const failed = rerunnable(revision.data, 'failed')
  const all = rerunnable(revision.data, 'all')
  const noFailed = refusal ?? (failed.length === 0 ? 'No task of this revision has failed.' : undefined)
  const noAll = refusal ?? (all.length === 0 ? 'No task of this revision has ended.' : undefined)
  useKeys(
    [
      {
        key: '[',
        label: 'Previous revision',
        run: () => go.to(previous),
        refusal: previous === undefined ? 'It is the first.' : undefined,
      },
      {
        key: ']',
        label: 'Next revision',
        run: () => go.to(next),
        refusal: next === undefined ? 'It is the newest.' : undefined,
      },
      { key: 'r', label: 'Rerun what failed', run: () => setAsked('failed'), refusal: noFailed },
      { key: 't', label: 'Timeline of this revision', run: go.timeline },
      { key: 'l', label: 'Loom of the archive', run: go.loom },
    ],
    'Revision',
  )
  return (
    <Page
      title={`r${rev} of ${name}`}
      heading={
        <span className="row">
          r{rev} {revision.data && <StateBadge look={revisionLooks[revision.data.state]} />}
        </span>
      }
      crumbs={
        <>
          <Link to="/archives">Archives</Link>
          <Link to="/archives/$name" params={{ name }} className="name">
            {name}
          </Link>
        </>
      }
      actions={
        <>
          <Button icon={RotateCw} refusal={noFailed} onClick={() => setAsked('failed')}>
            Rerun failed{failed.length > 0 && ` (${failed.length})`}
          </Button>
          <Button refusal={noAll} onClick={() => setAsked('all')}>
            Rerun all{all.length > 0 && ` (${all.length})`}
          </Button>
        </>
      }
      summary={<Ways name={name} rev={rev} previous={previous} next={next} />}
    >
      <Loaded query={revision}>{(found) => <RevisionContent name={name} found={found} />}</Loaded>
      <Rerun name={name} revision={revision.data} only={asked} onClose={() => setAsked(undefined)} />
    </Page>
  )
}

function useGo(name: string, rev: string) {
  const navigate = useNavigate()
  return {
    to: (number: number | undefined) => {
      if (number !== undefined) void navigate({ to: '/archives/$name/r/$rev', params: { name, rev: String(number) } })
    },
    timeline: () => void navigate({ to: '/timeline', search: { archive: name, rev } }),
    loom: () => void navigate({ to: '/archives/$name', params: { name }, search: { at: rev } }),
  }
}

/** Moves its tasks as events say; fetches again only what they do not say, at most once a second. */
function usePatches(name: string, rev: string): void {
  const queries = useQueryClient()
  const { queryKey } = queryOf(routes.archives.revision, { params: { name, rev: Number(rev) } })
  const [pending] = useState<{ timer?: ReturnType<typeof setTimeout> | undefined }>({})
  const refetch = () => {
    pending.timer ??= setTimeout(() => {
      pending.timer = undefined
      void queries.invalidateQueries({ queryKey })
    }, 500)
  }
  useLive(
    [`archive:${name}`],
    (events) => {
      const found = queries.getQueryData<Found>(queryKey)
      // It was not planned when it was asked for, and may be now.
      if (found === undefined) return refetch()
      const patched = patchRevision(found, events)
      if (patched === undefined) return
      queries.setQueryData(queryKey, patched.revision)
      if (patched.isOutdated) refetch()
    },
    refetch,
  )
  useFreshWhenShown([routes.archives.revision.name], `${name} ${rev}`)
}

type WaysProps = { readonly name: string; readonly rev: string; previous: number | undefined; next: number | undefined }

function Ways({ name, rev, previous, next }: WaysProps) {
  return (
    <nav className="row revision-ways" aria-label="From this revision">
      {previous !== undefined && (
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(previous) }} rel="prev">
          <ChevronLeft aria-hidden size={14} /> r{previous}
          <span className="visually-hidden">the previous revision</span>
        </Link>
      )}
      {next !== undefined && (
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(next) }} rel="next">
          r{next} <ChevronRight aria-hidden size={14} />
          <span className="visually-hidden">the next revision</span>
        </Link>
      )}
      <Link to="/archives/$name" params={{ name }} search={{ at: rev }}>
        Loom
      </Link>
      <Link to="/timeline" search={{ archive: name, rev }}>
        <GanttChart aria-hidden size={14} /> Timeline
      </Link>
      <Link to="/archives/$name/definitions" params={{ name }} search={{ rev }}>
        Definitions
      </Link>
    </nav>
  )
}
