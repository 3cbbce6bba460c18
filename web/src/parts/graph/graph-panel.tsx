import { Button } from '../button.tsx'
import { useIsNarrow } from '../narrow.ts'
import { Panel } from '../panel.tsx'
import type { Graph } from './graph.ts'
import { GraphList } from './graph-list.tsx'
import { GraphView } from './graph-view.tsx'

type GraphPanelProps = {
  readonly title: string
  readonly graph: Graph
  /** `graph` or `list`; undefined: as the screen is wide. Keep it in the address. */
  readonly view: string | undefined
  readonly onView: (view: 'graph' | 'list') => void
  /** Whether the running task is followed; undefined: nothing runs in such a graph. */
  readonly follow?: { readonly isOn: boolean; readonly onChange: (isOn: boolean) => void } | undefined
}

/** A graph as a drawing or as a list, which say the same. */
export function GraphPanel({ title, graph, view, onView, follow }: GraphPanelProps) {
  const isNarrow = useIsNarrow()
  const isList = view === 'list' || (view === undefined && isNarrow)
  return (
    <Panel
      title={title}
      isFlush
      actions={
        <>
          {follow !== undefined && !isList && (
            <Button kind="quiet" aria-pressed={follow.isOn} onClick={() => follow.onChange(!follow.isOn)}>
              Follow what runs
            </Button>
          )}
          <Button kind="quiet" aria-pressed={!isList} onClick={() => onView('graph')}>
            Graph
          </Button>
          <Button kind="quiet" aria-pressed={isList} onClick={() => onView('list')}>
            List
          </Button>
        </>
      }
    >
      {isList ? (
        <GraphList graph={graph} label={title} />
      ) : (
        <GraphView graph={graph} label={title} isFollowing={follow?.isOn ?? false} />
      )}
    </Panel>
  )
}
