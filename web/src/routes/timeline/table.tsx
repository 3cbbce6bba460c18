import { formatDuration } from '../../format.ts'
import { useIsNarrow } from '../../parts/narrow.ts'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { TaskLink } from '../../parts/task-link.tsx'
import { useNow } from '../../parts/time.tsx'
import { type Item, sumsOf } from './rows-of.ts'

type TimelineTableProps = {
  readonly items: readonly Item[]
  readonly critical: readonly string[]
  /** All tasks are of one archive. */
  readonly isInArchive: boolean
}

/** The same as the chart in numbers. */
export function TimelineTable({ items, critical, isInArchive }: TimelineTableProps) {
  const now = useNow()
  const isNarrow = useIsNarrow()
  const time = (of: 'waiting' | 'ready' | 'running' | 'delayed', head: string, isMinor: boolean): Column<Item> => ({
    id: of,
    head,
    align: 'end',
    isMinor,
    cell: (item) => {
      const { [of]: ms, attempts } = sumsOf(item, now)
      if (ms === 0) return <span className="muted">–</span>
      return `${formatDuration(ms)}${of === 'running' && attempts > 1 ? ` (${attempts}×)` : ''}`
    },
  })
  const columns: readonly Column<Item>[] = [
    { id: 'state', head: 'State', isMinor: true, cell: ({ state }) => <StateBadge look={taskLooks[state]} /> },
    {
      id: 'task',
      head: 'Task',
      isWide: true,
      cell: (item) => (
        <>
          <TaskLink task={item} isInArchive={isInArchive} />
          {critical.includes(item.id) && <span className="muted"> critical</span>}
          {isNarrow && (
            <div>
              <StateBadge look={taskLooks[item.state]} />
            </div>
          )}
        </>
      ),
    },
    time('waiting', 'Waited', true),
    time('ready', 'Ready', true),
    time('running', 'Ran', false),
    time('delayed', 'Retry wait', true),
  ]
  return <Table label="Where the time went" columns={columns} rows={items} rowKey={({ id }) => id} />
}
