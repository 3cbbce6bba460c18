import { useQueryClient } from '@tanstack/react-query'
import { ScanSearch, X } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import { routes, useCall } from '../../api.ts'
import { useFreshWhenShown, useLive } from '../../live.ts'
import { Pace } from '../../pace.ts'
import { IconButton } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Link } from '../../parts/link.tsx'
import { Loaded } from '../../parts/panel.tsx'
import { nodeLooks, StateBadge } from '../../parts/state-badge.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Duration, RelativeTime } from '../../parts/time.tsx'
import type { Node } from './form-data.ts'
import { NodeActions } from './node-actions.tsx'
import { NodeData } from './node-data.tsx'
import { isStreamKey, NodeOutput } from './node-output.tsx'
import { ROW_METADATA, type TreeRow } from './patch-row.ts'
import './node-pane.css'

/** How far up the breadcrumbs go. */
const MOST_CRUMBS = 20

type NodePaneProps = {
  readonly id: string
  /** Which part is open: `data`, or one of the streams. */
  readonly pane: string | undefined
  readonly onPane: (pane: string) => void
  readonly onSelect: (id: string) => void
  readonly onZoom: (id: string) => void
  readonly onClose: () => void
}

/** One node: what it is below, what it does, what it wrote, and what can be done to it. */
export function NodePane(props: NodePaneProps) {
  const { id, onClose } = props
  const node = useCall(routes.nodes.get, { params: { id } })
  const line = useCall(routes.nodes.list, { query: { up: id, limit: MOST_CRUMBS, metadata: ROW_METADATA } })
  useFreshNode(id)
  useFreshWhenShown([routes.nodes.get.name, routes.nodes.list.name], id)
  const above = (line.data === undefined ? [] : 'nodes' in line.data ? line.data.nodes : line.data) as TreeRow[]
  return (
    <section className="panel node-pane" aria-label={`Node ${id}`}>
      <header className="node-pane-head">
        <Crumbs line={above} onSelect={props.onSelect} />
        <IconButton icon={ScanSearch} label="Zoom to this subtree" onClick={() => props.onZoom(id)} />
        <IconButton icon={X} label="Close" onClick={onClose} />
      </header>
      <Loaded query={node}>{(found) => <Content {...props} node={found} line={above} />}</Loaded>
    </section>
  )
}

/** Nodes are added all the time, by everybody: the node is fetched again at most so often. */
const FRESH_MS = 1_000

/** Fetches a node and what it is below again when something happened to it, or nodes came that may be below it. */
function useFreshNode(id: string): void {
  const queries = useQueryClient()
  const pace = useMemo(() => {
    // Each waits for the one before: under constant change one that is canceled by the next would never be answered.
    const work = () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: [routes.nodes.get.name, { params: { id } }] }),
        queries.invalidateQueries({ queryKey: [routes.nodes.list.name] }),
      ])
    return new Pace(work, FRESH_MS)
  }, [queries, id])
  useEffect(() => () => pace.close(), [pace])
  useLive(
    ['node'],
    (events) => {
      if (events.some(({ key, name }) => key === id || name === 'node.added')) void pace.ask()
    },
    () => pace.ask(),
  )
}

function Crumbs({ line, onSelect }: { readonly line: readonly TreeRow[]; readonly onSelect: (id: string) => void }) {
  const [, ...above] = line
  const isCut = line.length > 0 && line.at(-1)?.parent !== 'root'
  return (
    <nav aria-label="Above this node" className="crumbs node-crumbs">
      <span>{isCut ? '…' : 'root'}</span>
      {above.reverse().map(({ id, summary }) => (
        <span key={id}>
          <button type="button" className="node-crumb mono" title={summary} onClick={() => onSelect(id)}>
            {id}
          </button>
        </span>
      ))}
    </nav>
  )
}

function Content({ node, line, pane, ...props }: NodePaneProps & { readonly node: Node; readonly line: TreeRow[] }) {
  const { metadata, data } = node
  const [self, parent] = line
  const row: TreeRow = { summary: '', result: null, children: 0, ...self, ...metadata }
  const reason = typeof data['error'] === 'string' ? data['error'] : undefined
  const hasOutput = metadata.started_at !== null && metadata.type !== 'sleep'
  const isData = pane === 'data' || !hasOutput
  return (
    <div className="node-pane-body">
      <h2 className="node-title mono name">{row.summary || metadata.type}</h2>
      <NodeActions row={row} parentType={parent?.type} onSelect={props.onSelect} onRemoved={props.onClose} />
      {reason !== undefined && <p className="node-reason">{reason}</p>}
      <Facts
        of={{
          State: <StateBadge look={nodeLooks[metadata.state]} />,
          Exit: data['result'] === undefined ? undefined : exitOf(data),
          Type: metadata.type,
          Runs: metadata.parent === 'root' ? 'at once' : `after ${afterWords[metadata.run_if]} of ${metadata.parent}`,
          Branch: metadata.branch ?? undefined,
          Added: <RelativeTime at={metadata.created_at} />,
          Took: <Duration from={metadata.started_at} to={metadata.finished_at} />,
          Task: (
            <Link to="/tasks/$id" params={{ id: metadata.task }} className="mono">
              {metadata.task}
            </Link>
          ),
        }}
      />
      <Tabs
        label="Parts of the node"
        open={isData && pane === 'data' ? 'data' : 'output'}
        onOpen={(open) => props.onPane(open === 'data' ? 'data' : 'mixedout')}
        items={[
          {
            id: 'output',
            label: 'Output',
            content: hasOutput ? (
              <NodeOutput
                id={node.id}
                task={metadata.task}
                stream={isStreamKey(pane) ? pane : 'mixedout'}
                startedAt={metadata.started_at ?? ''}
                onStream={props.onPane}
              />
            ) : (
              <EmptyState title={metadata.type === 'sleep' ? 'A sleep writes nothing' : 'It has not started'} />
            ),
          },
          { id: 'data', label: 'Data', content: <NodeData node={node} /> },
        ]}
      />
    </div>
  )
}

const afterWords = { success: 'the success', failure: 'the failure', always: 'the end' } as const

function exitOf(data: Node['data']): string {
  const { result, signal } = data as { result?: number | null; signal?: string }
  return result === null || result === undefined ? (signal === undefined ? 'none' : `by ${signal}`) : String(result)
}
