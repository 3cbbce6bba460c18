import { getRouteApi } from '@tanstack/react-router'
import { ListPlus, Plus, X } from 'lucide-react'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { call, routes, useCall, useRefusal } from '../api.ts'
import { useLive } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loading } from '../parts/panel.tsx'
import { nodeLooks } from '../parts/state-badge.tsx'
import { AddChain, AddNode } from './nodes/node-form.tsx'
import { NodePane } from './nodes/node-pane.tsx'
import { type AskNodes, NodeTree, type Top } from './nodes/node-tree.ts'
import { ROW_METADATA, type TreeRow } from './nodes/patch-row.ts'
import { TreeGrid } from './nodes/tree-grid.tsx'
import '../parts/panel.css'
import './nodes.css'

const page = getRouteApi('/shell/nodes')
const types = ['command', 'shell command', 'condition', 'if', 'sleep'] as const
const ROOT = { id: 'root' } as const

const ask: AskNodes = async (query) => {
  const found = await call(routes.nodes.list, { query: { ...query, metadata: ROW_METADATA } })
  if (!('nodes' in found)) return { rows: found as TreeRow[] }
  const { next, pid } = found.pagination
  return { rows: found.nodes as TreeRow[], next: { start: next, pid } }
}

/** Trees of commands: what runs below what, as it runs. */
export function Nodes() {
  const search = page.useSearch()
  const navigate = page.useNavigate()
  const [adding, setAdding] = useState<'node' | 'chain'>()
  const refusal = useRefusal(routes.nodes.add)
  const tree = useTree(search)
  const go = (change: Change) => void navigate({ search: (before) => keepGiven({ ...before, ...change }) })
  const select = (node: string) => go({ node, ...(node === search.node ? {} : { pane: undefined }) })
  useReveal(tree, search.node)
  return (
    <Page
      title="Trees"
      summary="Commands that were sent, and what follows each of them."
      actions={
        <>
          <Button icon={ListPlus} refusal={refusal} onClick={() => setAdding('chain')}>
            Add a chain
          </Button>
          <Button kind="primary" icon={Plus} refusal={refusal} onClick={() => setAdding('node')}>
            Add a tree
          </Button>
        </>
      }
    >
      <Filters search={search} onChange={go} />
      <div className="trees" data-open={search.node === undefined ? undefined : ''}>
        <section className="panel trees-main" aria-label="Tree">
          <Rows tree={tree} selected={search.node} isNarrowed={isNarrowed(search)} onSelect={select} />
        </section>
        {search.node !== undefined && (
          <NodePane
            key={search.node}
            id={search.node}
            pane={search.pane}
            onPane={(pane) => go({ pane })}
            onSelect={select}
            onZoom={(zoom) => go({ zoom, state: undefined, type: undefined })}
            onClose={() => go({ node: undefined, pane: undefined })}
          />
        )}
      </div>
      <AddNode isOpen={adding === 'node'} onClose={() => setAdding(undefined)} parent={ROOT} onAdded={select} />
      <AddChain isOpen={adding === 'chain'} onClose={() => setAdding(undefined)} parent={ROOT} onAdded={select} />
    </Page>
  )
}

type Search = ReturnType<typeof page.useSearch>
type Change = { readonly [name in keyof Search]?: string | undefined }

const keepGiven = (search: Change): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

const isNarrowed = ({ zoom, state, type }: Search) => zoom !== undefined || state !== undefined || type !== undefined

function useTree({ zoom, state, type }: Search): NodeTree {
  const tree = useMemo(() => {
    const isFilter = state !== undefined || type !== undefined
    const top: Top = isFilter
      ? { is: 'filter', state, type }
      : zoom === undefined
        ? { is: 'roots' }
        : { is: 'node', id: zoom }
    return new NodeTree(ask, top)
  }, [zoom, state, type])
  useEffect(() => {
    void tree.start()
    return () => tree.stop()
  }, [tree])
  useLive(
    ['node'],
    (events) => void tree.hear(events).catch(() => {}),
    () => tree.reset(),
  )
  return tree
}

/** Opens what is above the selected node, as far as it is among the rows. */
function useReveal(tree: NodeTree, node: string | undefined): void {
  const query = { up: node ?? '1', limit: 20, metadata: ROW_METADATA }
  const line = useCall(routes.nodes.list, { query })
  const { isLoading } = useSyncExternalStore(tree.subscribe, () => tree.view)
  const rows = line.data === undefined || 'nodes' in line.data ? [] : line.data
  const above =
    node === undefined
      ? ''
      : rows
          .map(({ id }) => id)
          .reverse()
          .slice(0, -1)
          .join(' ')
  useEffect(() => {
    if (isLoading || above === '') return
    const reveal = async () => {
      for (const id of above.split(' ')) {
        if (tree.row(id) === undefined) continue
        if (!tree.isOpen(id)) await tree.open(id)
      }
    }
    void reveal()
  }, [tree, above, isLoading])
}

function Filters({ search, onChange }: { readonly search: Search; readonly onChange: (change: Change) => void }) {
  const { state, type, zoom } = search
  return (
    <search className="trees-filters">
      <select
        className="input"
        aria-label="State"
        value={state ?? ''}
        onChange={({ target }) => onChange({ state: target.value || undefined, zoom: undefined })}
      >
        <option value="">Every state</option>
        {Object.entries(nodeLooks).map(([value, { word }]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
      <select
        className="input"
        aria-label="Type"
        value={type ?? ''}
        onChange={({ target }) => onChange({ type: target.value || undefined, zoom: undefined })}
      >
        <option value="">Every type</option>
        {types.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
      {zoom !== undefined && state === undefined && type === undefined && (
        <Button icon={X} onClick={() => onChange({ zoom: undefined })}>
          Below {zoom} only
        </Button>
      )}
      {(state !== undefined || type !== undefined) && (
        <Button icon={X} onClick={() => onChange({ state: undefined, type: undefined })}>
          Show the trees
        </Button>
      )}
    </search>
  )
}

type RowsProps = {
  readonly tree: NodeTree
  readonly selected: string | undefined
  readonly isNarrowed: boolean
  readonly onSelect: (id: string) => void
}

function Rows({ tree, selected, isNarrowed: isPart, onSelect }: RowsProps) {
  const view = useSyncExternalStore(tree.subscribe, () => tree.view)
  if (view.isLoading) return <Loading />
  if (view.error !== undefined) return <Failure error={view.error} onRetry={() => void tree.start()} />
  return (
    <>
      {(view.newCount > 0 || view.isOutdated) && (
        <div className="tree-bar" role="status">
          <span>{view.newCount > 0 ? `${view.newCount} new` : 'Something has happened since.'}</span>
          <Button kind="quiet" onClick={() => void tree.refresh()}>
            {view.newCount > 0 ? 'Show them' : 'Look again'}
          </Button>
        </div>
      )}
      {view.lines.length === 0 ? (
        isPart ? (
          <EmptyState title="No node is like this">Take something out of the filter.</EmptyState>
        ) : (
          <EmptyState title="No tree was sent" command="millrace node add -- make all">
            A node is a command; its children run when it has ended.
          </EmptyState>
        )
      ) : (
        <TreeGrid tree={tree} selected={selected} onSelect={onSelect} />
      )}
    </>
  )
}
