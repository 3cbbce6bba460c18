import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { EmptyState } from '../../parts/empty-state.tsx'
import { GraphPanel } from '../../parts/graph/graph-panel.tsx'
import { Link } from '../../parts/link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Findings } from '../../parts/source/findings.tsx'
import { lookOf, StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Duration } from '../../parts/time.tsx'
import { CommitPanel } from './commit-panel.tsx'
import { DefinitionDiff, WorkflowFiles } from './files.tsx'
import { graphOfRevision, placeOf, type Revision, type RevisionTask, taskParam } from './graph-of-revision.ts'

const page = getRouteApi('/shell/archives/$name/r/$rev')

type ContentProps = { readonly name: string; readonly found: Revision }

/** Everything below the heading. */
export function RevisionContent({ name, found }: ContentProps) {
  const { tab = 'tasks' } = page.useSearch()
  const navigate = page.useNavigate()
  const rev = String(found.number)
  const textOf = (file: string) => found.files.find(({ path }) => path === file)?.text
  const changed = found.previous_files === null ? 'no change' : 'changed'
  return (
    <div className="stack">
      {found.problems.length > 0 && (
        <Panel title={found.state === 'broken' ? 'Its workflow files are broken: it has no tasks' : 'Problems'} isFlush>
          <Findings
            findings={found.problems}
            textOf={textOf}
            linkTo={(file, line, words) => (
              <Link
                to="/archives/$name/r/$rev"
                params={{ name, rev }}
                search={{ tab: 'files', file, line: String(line) }}
                resetScroll={false}
              >
                {words}
              </Link>
            )}
          />
        </Panel>
      )}
      <CommitPanel name={name} found={found} />
      <Tabs
        label="Parts of the revision"
        open={tab}
        onOpen={(id) =>
          void navigate({ search: { tab: id === 'tasks' ? undefined : id }, replace: true, resetScroll: false })
        }
        items={[
          { id: 'tasks', label: `Tasks (${found.tasks.length})`, content: <Tasks name={name} found={found} /> },
          { id: 'files', label: `Workflow files (${found.files.length})`, content: <WorkflowFiles found={found} /> },
          { id: 'diff', label: `Definition: ${changed}`, content: <DefinitionDiff found={found} /> },
        ]}
      />
    </div>
  )
}

function Tasks({ name, found }: ContentProps) {
  const { view, follow } = page.useSearch()
  const navigate = page.useNavigate()
  const graph = useMemo(() => graphOfRevision(found, name), [found, name])
  if (found.tasks.length === 0) {
    return (
      <Panel>
        <EmptyState title="This revision has no tasks">
          {found.state === 'broken'
            ? 'Its workflow files have errors. The next revision goes on.'
            : 'No workflow was started by this commit.'}
        </EmptyState>
      </Panel>
    )
  }
  const set = (search: { view?: string; follow?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...search }), replace: true, resetScroll: false })
  return (
    <div className="stack">
      <GraphPanel
        title="What waits for what"
        graph={graph}
        view={view}
        onView={(next) => set({ view: next })}
        follow={{ isOn: follow === '1', onChange: (isOn) => set({ follow: isOn ? '1' : undefined }) }}
      />
      <Panel title="Tasks" isFlush>
        <Table label="Tasks" columns={columns(name, String(found.number))} rows={found.tasks} rowKey={({ id }) => id} />
      </Panel>
    </div>
  )
}

const columns = (name: string, rev: string): readonly Column<RevisionTask>[] => [
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={lookOf(taskLooks, state)} /> },
  {
    id: 'name',
    head: 'Task',
    isWide: true,
    cell: (task) => (
      <>
        <Link to="/archives/$name/r/$rev/$task" params={{ name, rev, task: taskParam(task) }} className="mono name">
          {taskParam(task)}
        </Link>
        {task.exclusive && <span className="muted"> exclusive</span>}
        {task.superseded_by !== null && <Superseded by={task.superseded_by} />}
      </>
    ),
  },
  { id: 'workflow', head: 'Workflow', isMinor: true, cell: ({ workflow }) => workflow ?? '' },
  {
    id: 'took',
    head: 'Took',
    align: 'end',
    cell: ({ started_at, finished_at }) => <Duration from={started_at} to={finished_at} />,
  },
  {
    id: 'log',
    head: 'Log',
    align: 'end',
    isMinor: true,
    cell: ({ id, name: task, started_at }) =>
      started_at === null ? (
        ''
      ) : (
        <Link to="/tasks/$id/log" params={{ id }} aria-label={`Log of ${task}`}>
          Log
        </Link>
      ),
  },
]

function Superseded({ by }: { readonly by: string }) {
  const place = placeOf(by)
  return (
    <span className="muted">
      {' '}
      superseded by{' '}
      {place === undefined ? (
        <Link to="/tasks/$id" params={{ id: by }} className="mono name">
          {by}
        </Link>
      ) : (
        <Link to="/archives/$name/r/$rev" params={place}>
          r{place.rev}
        </Link>
      )}
    </span>
  )
}
