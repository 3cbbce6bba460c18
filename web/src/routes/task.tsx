import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useRef } from 'react'
import { type BodyAnswered, routes, textOf, useCall } from '../api.ts'
import { quoted } from '../filter.ts'
import { formatDuration } from '../format.ts'
import { memberOf, readJson } from '../json.ts'
import { useFreshWhenShown, useLive } from '../live.ts'
import { changed, type LogChoice, type LogChoicePatch } from '../log/choice.ts'
import { Facts } from '../parts/facts.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, taskLooks } from '../parts/state-badge.tsx'
import { type TabItem, Tabs } from '../parts/tabs.tsx'
import { Duration, RelativeTime } from '../parts/time.tsx'
import { homeOf, nameOfTask } from '../tasks/task-name.ts'
import { LogViewer } from './log/log-viewer.tsx'
import { StateHistory } from './task/state-history.tsx'
import { TaskActions } from './task/task-actions.tsx'
import { TaskCommand } from './task/task-command.tsx'
import { Artifacts, Attempts, exitCodeOf, Neighbours, Story } from './task/task-tables.tsx'
import { Why } from './task/why.tsx'
import './task/task.css'

type Task = BodyAnswered<typeof routes.tasks.get>
type Search = LogChoice & { tab?: string | undefined }
type Place = {
  readonly search: Search
  readonly onSearch: (patch: LogChoicePatch & { tab?: string | undefined }) => void
}

const page = getRouteApi('/shell/tasks/$id')

export function TaskScreen() {
  const { id } = page.useParams()
  const search = page.useSearch()
  const navigate = page.useNavigate()
  const onSearch: Place['onSearch'] = (patch) =>
    void navigate({ search: (before) => changed(before, patch), hash: true, replace: true, resetScroll: false })
  return <TaskPage id={id} search={search} onSearch={onSearch} />
}

/** One task of whichever part, by its number or natural key. */
export function TaskPage({ id, ...place }: Place & { readonly id: string }) {
  const task = useCall(routes.tasks.get, { params: { id } })
  useFreshTask(id, task.data)
  const name = task.data === undefined ? id : nameOfTask(task.data)
  const tabs = useRef<HTMLDivElement>(null)
  const showLog = () => {
    place.onSearch({ tab: undefined })
    requestAnimationFrame(() => {
      tabs.current?.scrollIntoView({ block: 'start' })
      tabs.current?.querySelector<HTMLElement>('.log-box')?.focus({ preventScroll: true })
    })
  }
  return (
    <Page
      title={name}
      heading={<span className="mono">{name}</span>}
      crumbs={<Crumbs task={task.data} />}
      summary={task.data && <Summary task={task.data} />}
      actions={task.data && <TaskActions task={task.data} onLog={showLog} />}
    >
      <Loaded query={task}>
        {(found) => (
          <div className="stack">
            <Why task={found} />
            <History id={found.id} />
            <div ref={tabs} className="task-tabs">
              <Parts task={found} {...place} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function Crumbs({ task }: { readonly task: Task | undefined }) {
  const home = task === undefined ? undefined : homeOf(task)
  if (home?.is === 'archive') {
    const { archive: name, rev } = home
    return (
      <>
        <Link to="/archives">Archives</Link>
        <Link to="/archives/$name" params={{ name }} search={{ at: `r${rev}`, task: home.task }} className="name">
          {name}
        </Link>
        <Link to="/archives/$name/r/$rev" params={{ name, rev }}>
          r{rev}
        </Link>
      </>
    )
  }
  if (home?.is === 'node') {
    return (
      <>
        <Link to="/nodes">Trees</Link>
        <Link to="/nodes" search={{ node: home.node }}>
          node {home.node}
        </Link>
      </>
    )
  }
  return (
    <>
      <Link to="/tasks">Tasks</Link>
      {task !== undefined && (
        <Link to="/tasks" search={{ q: `scope:${quoted(task.scope)}` }} className="name">
          {task.scope}
        </Link>
      )}
    </>
  )
}

/** What matters most, in one row: state, how long, and how long it usually takes. */
function Summary({ task }: { readonly task: Task }) {
  const exit = exitCodeOf(task.error) ?? exitCodeOf(task.output)
  return (
    <div className="task-summary">
      <StateBadge look={taskLooks[task.state]} />
      {task.is_canceling && <span className="task-canceling">is being canceled</span>}
      {task.started_at !== null && (
        <span>
          <Duration from={task.started_at} to={task.finished_at} />
          <Typical task={task} />
        </span>
      )}
      {exit !== undefined && <span>exit code {exit}</span>}
      {task.attempts.length > 1 && <span>{task.attempts.length} attempts</span>}
      <span className="muted">
        {task.finished_at === null ? 'added' : 'ended'} <RelativeTime at={task.finished_at ?? task.created_at} />
      </span>
      <TaskCommand task={task} />
    </div>
  )
}

function Typical({ task }: { readonly task: Task }) {
  const { data } = useCall(routes.tasks.typical, { params: { id: task.id } })
  if (data === undefined || data.median_ms === null) return null
  const range =
    data.p10_ms === null || data.p90_ms === null
      ? ''
      : `, from ${formatDuration(data.p10_ms)} to ${formatDuration(data.p90_ms)} in most cases`
  return (
    <span className="muted" title={`The middle of ${data.count} successes${range}`}>
      , usually {formatDuration(data.median_ms)}
    </span>
  )
}

function History({ id }: { readonly id: string }) {
  const story = useCall(routes.tasks.events, { params: { id } })
  return <Loaded query={story}>{({ items }) => <StateHistory story={items} />}</Loaded>
}

function Parts({ task, search, onSearch }: Place & { readonly task: Task }) {
  const { tab, ...choice } = search
  const story = useCall(routes.tasks.events, { params: { id: task.id } })
  const items: readonly TabItem[] = [
    {
      id: 'log',
      label: 'Log',
      content: (
        <Panel isFlush>
          <LogViewer task={task} choice={choice} onChoose={onSearch} />
        </Panel>
      ),
    },
    {
      id: 'attempts',
      label: `Attempts ${task.attempts.length}`,
      content: (
        <Panel isFlush>
          <Attempts task={task} onLog={(number) => onSearch({ tab: undefined, attempt: String(number) })} />
        </Panel>
      ),
    },
    { id: 'data', label: 'Input and output', content: <Data task={task} /> },
    {
      id: 'neighbours',
      label: `Requirements ${task.requirements.length}, dependents ${task.dependents.length}`,
      content: (
        <Panel isFlush>
          <Neighbours task={task} />
        </Panel>
      ),
    },
    {
      id: 'events',
      label: 'Events',
      content: (
        <Panel isFlush>
          <Loaded query={story}>{({ items: entries }) => <Story story={entries} />}</Loaded>
        </Panel>
      ),
    },
    { id: 'json', label: 'JSON', content: <JsonView json={readJson(textOf(task))} label="task" /> },
  ]
  const open = items.some(({ id }) => id === tab) ? (tab as string) : 'log'
  return (
    <Tabs
      label="Parts of the task"
      items={items}
      open={open}
      onOpen={(id) => onSearch({ tab: id === 'log' ? undefined : id })}
    />
  )
}

/** What it was given, what it gave, and the rest of what is known. */
function Data({ task }: { readonly task: Task }) {
  const json = readJson(textOf(task))
  const view = (name: 'payload' | 'output' | 'error') => {
    const value = memberOf(json, name)
    return value === undefined || task[name] === null ? null : <JsonView json={value} label={name} />
  }
  return (
    <div className="stack">
      <Panel title="Input">{view('payload') ?? <p className="muted">It was given nothing.</p>}</Panel>
      {task.error !== null && <Panel title="Error">{view('error')}</Panel>}
      <Panel title="Output">{view('output') ?? <p className="muted">It has answered nothing.</p>}</Panel>
      <Panel title="Files">
        <Artifacts id={task.id} />
      </Panel>
      <Panel title="Facts">
        <Facts
          of={{
            Number: <code>{task.id}</code>,
            Scope: task.scope,
            Key: task.key ?? undefined,
            Kind: task.kind ?? 'milestone',
            Queue: task.queue ?? undefined,
            Priority: task.priority,
            'Added by': task.created_by ?? (task.creator === null ? undefined : <TaskNumber id={task.creator} />),
            Failures: `${task.failures} of ${task.max_attempts} attempts`,
            'Lost workers': task.deaths === 0 ? undefined : task.deaths,
            Worker: task.worker ?? undefined,
          }}
        />
      </Panel>
    </div>
  )
}

function TaskNumber({ id }: { readonly id: string }) {
  return (
    <Link to="/tasks/$id" params={{ id }}>
      task {id}
    </Link>
  )
}

const FRESH_MS = 500
const outdated: readonly string[] = [routes.tasks.get.name, routes.tasks.events.name, routes.artifacts.list.name]

/** Fetches the task again when something happened to it or to what it waits for; the rest of its scope does not matter. */
function useFreshTask(id: string, task: Task | undefined): void {
  const queries = useQueryClient()
  const pending = useRef<ReturnType<typeof setTimeout>>(undefined)
  const refetch = () => {
    pending.current = undefined
    void queries.invalidateQueries({ predicate: ({ queryKey }) => outdated.includes(String(queryKey[0])) })
  }
  const soon = () => {
    pending.current ??= setTimeout(refetch, FRESH_MS)
  }
  const near = [...(task?.requirements ?? []), ...(task?.dependents ?? [])]
  const topics = task === undefined ? [] : [...new Set([task.scope, ...near.map(({ scope }) => scope)])].slice(0, 20)
  const ids = new Set([task?.id, ...near.map(({ id }) => id)])
  useLive(topics, (events) => events.some((event) => ids.has(event.task ?? undefined)) && soon(), soon)
  useFreshWhenShown(outdated, id)
}
