// Beside the picture: what is known of the focused cell. Everything here is asked for when it is focused.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type BodyAnswered, call, routes, useCall } from '../../api.ts'
import { useLiveState } from '../../live.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Link } from '../../parts/link.tsx'
import { Failure, Loading } from '../../parts/panel.tsx'
import { lookOf, StateBadge } from '../../parts/state-badge.tsx'
import { Duration, RelativeTime, WithTimes } from '../../parts/time.tsx'
import { type Acts, verbWords } from './act.tsx'
import { allows, type Verb, verbs } from './choose.ts'
import { ABSENT, cellStates } from './cloth.ts'
import { cellLooks } from './legend.tsx'
import { keyOf, type Place } from './reach.ts'
import type { LoomSource } from './source.ts'
import { Typical } from './typical.tsx'

type Task = BodyAnswered<typeof routes.tasks.get>

export type RailProps = {
  readonly source: LoomSource
  readonly name: string
  readonly focus: Place
  readonly task: Task | undefined
  readonly error: Error | null
  readonly acts: Acts
  readonly onFocus: (cell: Place) => void
  readonly onClose: () => void
}

/** A moment after it has come to rest: who walks over cells asks for none of them. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** The task of a cell, asked for again with every change of its state: to be in the same one again is another attempt. */
export function useTask(source: LoomSource, focus: Place | undefined) {
  const id = focus === undefined ? undefined : source.cloth.task(focus.number, focus.column)
  const settled = useSettled(id, 120)
  const code = focus === undefined ? ABSENT : source.cloth.state(focus.number, focus.column)
  const state = cellStates[code]
  return useQuery({
    queryKey: [routes.tasks.get.name, { params: { id: settled ?? '' } }, state],
    queryFn: ({ signal }) => call(routes.tasks.get, { params: { id: settled ?? '' } }, { signal }),
    enabled: settled !== undefined && settled === id,
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
}

export function Rail(props: RailProps) {
  const { source, name, focus, onClose } = props
  const { cloth } = source
  const row = cloth.rows.get(focus.number)
  const column = cloth.columns[focus.column]
  return (
    <aside className="loom-rail" aria-label="The focused cell">
      <div>
        <span className="loom-rail-close">
          <IconButton icon={X} label="Close" onClick={onClose} />
        </span>
        <h2 className="name">{column?.name ?? `r${focus.number}`}</h2>
        <p className="loom-rail-of">
          <Link to="/archives/$name/r/$rev" params={{ name, rev: String(focus.number) }} className="mono">
            r{focus.number}
          </Link>
          {row !== undefined && row.author !== null && <span className="name">{row.author}</span>}
          {row !== undefined && row.date !== null && <RelativeTime at={row.date} />}
        </p>
        {row !== undefined && row.message !== '' && <p className="name">{row.message}</p>}
      </div>
      {column === undefined || cloth.state(focus.number, focus.column) === ABSENT ? (
        <RevisionPart {...props} />
      ) : (
        <TaskPart {...props} />
      )}
    </aside>
  )
}

function RevisionPart({ source, name, focus }: RailProps) {
  const row = source.cloth.rows.get(focus.number)
  const column = source.cloth.columns[focus.column]
  if (row === undefined) return <Loading />
  return (
    <>
      {column !== undefined && <p className="muted">This revision has no task of this name.</p>}
      {row.problemCount > 0 && <Problems name={name} number={focus.number} />}
      <div className="row">
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(focus.number) }} className="button button-plain">
          Revision
        </Link>
        <Link
          to="/archives/$name/definitions"
          params={{ name }}
          search={{ at: String(focus.number) }}
          className="button button-plain"
        >
          Definitions
        </Link>
      </div>
    </>
  )
}

function Problems({ name, number }: { readonly name: string; readonly number: number }) {
  const { data } = useCall(routes.archives.revision, { params: { name, rev: number } })
  if (data === undefined) return <Loading />
  return (
    <ul className="loom-why" aria-label="Problems of its workflow files">
      {data.problems.map((problem) => (
        <li key={`${problem.file}:${problem.line}:${problem.column}:${problem.code}`}>
          <code>
            {problem.file}:{problem.line}:{problem.column}
          </code>{' '}
          {problem.message}
          {problem.suggestion !== null && <span className="muted"> {problem.suggestion}</span>}
        </li>
      ))}
    </ul>
  )
}

function TaskPart({ source, name, focus, task, error, acts, onFocus }: RailProps) {
  const { cloth } = source
  const code = cloth.state(focus.number, focus.column)
  const id = cloth.task(focus.number, focus.column) ?? ''
  const known = task?.id === id ? task : undefined
  return (
    <>
      <StateBadge look={lookOf(cellLooks, cellStates[code] ?? '')} />
      {error !== null && known === undefined && <Failure error={error} />}
      {known === undefined && error === null && <Loading />}
      {known !== undefined && <Why source={source} task={known} focus={focus} onFocus={onFocus} />}
      {known !== undefined && (
        <Facts
          of={{
            [known.finished_at === null ? 'Runs' : 'Ran']:
              known.started_at === null ? undefined : <Duration from={known.started_at} to={known.finished_at} />,
            Typical: <Typical id={id} />,
            Worker: known.worker ?? undefined,
            Attempts: known.attempts.length > 1 ? known.attempts.length : undefined,
          }}
        />
      )}
      <Actions code={code} acts={acts} focus={focus} />
      {known !== undefined && known.attempts.length > 0 && (
        <Tail key={id} id={id} isRunning={known.state === 'running'} />
      )}
      <div className="row">
        <Link to="/tasks/$id" params={{ id }} className="button button-quiet">
          Task
        </Link>
        <Link to="/tasks/$id/log" params={{ id }} className="button button-quiet">
          Log
        </Link>
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(focus.number) }} className="button button-quiet">
          Revision
        </Link>
      </div>
    </>
  )
}

type WhyProps = Pick<RailProps, 'source' | 'focus' | 'onFocus'> & { readonly task: Task }

function Why({ source, task, focus, onFocus }: WhyProps) {
  const culprits = [...new Set([...task.culprits, ...(task.superseded_by === null ? [] : [task.superseded_by])])]
  const there = culprits.flatMap((id) => {
    const cell = source.cloth.locate(id)
    return cell === undefined || keyOf(cell) === keyOf(focus) ? [] : [cell]
  })
  return (
    <div className="loom-why">
      <p>
        <WithTimes sentence={task.why} />
      </p>
      {there.slice(0, 3).map((cell) => (
        <Button key={keyOf(cell)} kind="quiet" onClick={() => onFocus(cell)}>
          Go to r{cell.number} {source.cloth.columns[cell.column]?.name}
        </Button>
      ))}
    </div>
  )
}

function Actions({ code, acts, focus }: { readonly code: number; readonly acts: Acts; readonly focus: Place }) {
  const possible = verbs.filter((verb) => allows(verb, code))
  const kinds: Partial<Record<Verb, 'primary' | 'danger'>> = { retry: 'primary', cancel: 'danger' }
  return (
    <div className="row">
      {possible.map((verb) => (
        <Button key={verb} kind={kinds[verb] ?? 'plain'} refusal={acts.refusal} onClick={() => acts.ask(verb, [focus])}>
          {verbWords[verb].name}
        </Button>
      ))}
    </div>
  )
}

const TAIL = 8

/** The last lines that it has written; looked at again while it runs and the page is live, and once when it has ended. */
function Tail({ id, isRunning }: { readonly id: string; readonly isRunning: boolean }) {
  const live = useLiveState().is
  const isFollowed = isRunning && (live === 'live' || live === 'polling')
  const asked = { params: { id }, query: { from_line: -TAIL, limit: TAIL } }
  const { data } = useQuery({
    queryKey: [routes.taskLog.lines.name, asked, isRunning],
    queryFn: ({ signal }) => call(routes.taskLog.lines, asked, { signal }),
    refetchInterval: isFollowed ? 2_000 : false,
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  if (data === undefined) return null
  if (data.items.length === 0) return <p className="muted">It has written nothing.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="loom-tail" tabIndex={0} role="log" aria-label="The end of its log">
      {data.items.map(({ text }) => text).join('\n')}
    </pre>
  )
}
