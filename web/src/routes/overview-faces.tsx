import type { UseQueryResult } from '@tanstack/react-query'
import { Cpu, LibraryBig, ListChecks, ListTree, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { formatCount } from '../format.ts'
import { useFresh } from '../live.ts'
import { Link } from '../parts/link.tsx'

type Archives = BodyAnswered<typeof routes.archives.list>
type Counts = BodyAnswered<typeof routes.tasks.counts>

/** As many are counted; that there are more is said. */
const MOST = 100

const more = (count: number) => (count >= MOST ? `${MOST}+` : formatCount(count))

type FacesProps = { readonly archives: UseQueryResult<Archives>; readonly counts: Counts | undefined }

/** One card for each of the things that one comes for. Facts are one text, so that no word of it moves when a number grows. */
export function Faces({ archives, counts }: FacesProps) {
  const workers = useCall(routes.workers.list, { query: {} })
  const alive = workers.data?.items.filter(({ is_alive }) => is_alive)
  const inHand = (alive ?? []).reduce((sum, { running }) => sum + running, 0)
  return (
    <ul className="faces" aria-label="Parts">
      <ArchivesFace archives={archives.data} />
      <TreesFace />
      <Face to="/tasks" icon={ListChecks} title="Tasks">
        {counts &&
          `${formatCount(counts.states.running?.count ?? 0)} running, ${formatCount(
            (counts.states.ready?.count ?? 0) + (counts.states.waiting?.count ?? 0),
          )} to come`}
      </Face>
      <Face to="/workers" icon={Cpu} title="Workers">
        {alive && `${alive.length} alive, ${inHand} ${inHand === 1 ? 'task' : 'tasks'} in hand`}
      </Face>
    </ul>
  )
}

function ArchivesFace({ archives }: { readonly archives: Archives | undefined }) {
  const items = archives?.items ?? []
  const behind = items.filter(({ planned, youngest }) => planned.number < youngest.number).length
  const stopped = items.filter(({ state }) => state !== 'active').length
  return (
    <Face to="/archives" icon={LibraryBig} title="Archives">
      {archives &&
        [
          more(items.length),
          ...(stopped > 0 ? [`${stopped} held or broken`] : []),
          ...(behind > 0 ? [`${behind} behind`] : items.length > 0 ? ['all planned'] : []),
        ].join(', ')}
    </Face>
  )
}

const countOf = (list: BodyAnswered<typeof routes.nodes.list> | undefined) =>
  list === undefined ? undefined : (Array.isArray(list) ? list : list.nodes).length

function TreesFace() {
  const running = countOf(useCall(routes.nodes.list, { query: { state: 'running', limit: MOST } }).data)
  const failed = countOf(useCall(routes.nodes.list, { query: { state: 'failed', limit: MOST } }).data)
  useFresh(['node'], ['nodes.list'])
  return (
    <Face to="/nodes" icon={ListTree} title="Trees">
      {running !== undefined && failed !== undefined && `${more(running)} running, ${more(failed)} failed`}
    </Face>
  )
}

type FaceProps = {
  readonly to: '/archives' | '/nodes' | '/tasks' | '/workers'
  readonly icon: LucideIcon
  readonly title: string
  readonly children: ReactNode
}

function Face({ to, icon: Icon, title, children }: FaceProps) {
  return (
    <li>
      <Link to={to} className="face">
        <Icon aria-hidden size={18} />
        <span className="face-title">{title}</span>
        <span className="face-facts">{children || ' '}</span>
      </Link>
    </li>
  )
}
