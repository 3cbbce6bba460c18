import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { CirclePause, CirclePlay, Play, X } from 'lucide-react'
import { type BodyAnswered, call, routes, useCall, useRefusal } from '../api.ts'
import { clock } from '../clock.ts'
import { formatInstant } from '../format.ts'
import { useFresh } from '../live.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, scheduleLooks } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { tell } from '../parts/toast.tsx'
import { useZone, zoneNames } from '../zone.ts'
import { findZoneChange } from './zone-change.ts'
import './schedules.css'

type Schedule = BodyAnswered<typeof routes.schedules.list>['items'][number]
type Whole = BodyAnswered<typeof routes.schedules.get>
type Tick = Whole['ticks'][number]

const page = getRouteApi('/shell/schedules')
const DAYS_AHEAD = 14

const columns: readonly Column<Schedule>[] = [
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={scheduleLooks[state]} /> },
  {
    id: 'what',
    head: 'Schedule',
    isWide: true,
    cell: ({ id, archive, workflow, words, cron, timezone }) => (
      <>
        <Link to="/schedules" search={{ schedule: id }} className="schedule-words">
          {words}
        </Link>
        <div className="schedule-sub">
          <span className="name">{archive}</span> · <span className="name">{workflow}</span> · <code>{cron}</code> ·{' '}
          {timezone}
        </div>
      </>
    ),
  },
  { id: 'last', head: 'Last', isMinor: true, cell: ({ last }) => (last === null ? '' : <LastTick tick={last} />) },
  { id: 'next', head: 'Next', align: 'end', cell: ({ next_at }) => <RelativeTime at={next_at} /> },
]

/** What runs by the clock. */
export function Schedules() {
  const { schedule } = page.useSearch()
  const list = useCall(routes.schedules.list)
  useFresh(['archive:*'], ['schedules.list', 'schedules.get'])
  return (
    <Page title="Schedules" summary="Workflows that run by the clock, as their newest files say.">
      <div className="schedules" data-open={schedule === undefined ? undefined : ''}>
        <Panel isFlush>
          <Loaded
            query={list}
            isEmpty={({ items }) => items.length === 0}
            empty={
              <EmptyState title="Nothing runs by the clock" command={EXAMPLE}>
                A workflow file of an archive with <code>on: schedule</code> does, from the commit that brings it.
              </EmptyState>
            }
          >
            {({ items }) => (
              <Table
                label="Schedules"
                columns={columns}
                rows={items}
                rowKey={({ id }) => id}
                isSelected={({ id }) => id === schedule}
              />
            )}
          </Loaded>
        </Panel>
        {schedule !== undefined && <OneSchedule key={schedule} id={schedule} />}
      </div>
    </Page>
  )
}

const EXAMPLE = `on:
  schedule:
    - { cron: "0 3 * * *", timezone: Europe/Berlin }
tasks:
  - { name: nightly, command: make nightly }`

const outcomes = {
  planned: { glyph: '●', word: 'ran' },
  skipped: { glyph: '–', word: 'left out' },
  refused: { glyph: '✕', word: 'refused' },
} as const

function LastTick({ tick }: { readonly tick: NonNullable<Schedule['last']> }) {
  const { glyph, word } = outcomes[tick.outcome]
  return (
    <span title={tick.reason ?? undefined}>
      <span aria-hidden="true">{glyph}</span> {word} <RelativeTime at={tick.at} />
    </span>
  )
}

function OneSchedule({ id }: { readonly id: string }) {
  const navigate = page.useNavigate()
  const schedule = useCall(routes.schedules.get, { params: { id } })
  return (
    <Panel
      title="Schedule"
      actions={<IconButton icon={X} label="Close" onClick={() => void navigate({ search: {} })} />}
    >
      <Loaded query={schedule}>{(found) => <Content schedule={found} />}</Loaded>
    </Panel>
  )
}

function Content({ schedule }: { readonly schedule: Whole }) {
  const { archive, workflow, words, cron, timezone, overlap, state, problem, paused_by, paused_at } = schedule
  return (
    <div className="stack">
      <Actions schedule={schedule} />
      {problem !== null && <p className="schedule-note name">{problem}</p>}
      <Facts
        of={{
          When: (
            <>
              {words} <code>{cron}</code>
            </>
          ),
          Zone: timezone,
          Workflow: workflow,
          Archive: (
            <Link to="/archives/$name" params={{ name: archive }} className="name">
              {archive}
            </Link>
          ),
          State: <StateBadge look={scheduleLooks[state]} />,
          Paused:
            paused_by === null ? undefined : (
              <>
                by {paused_by} <RelativeTime at={paused_at} />
              </>
            ),
          Overlap: overlap === 'skip' ? 'left out while the run before is not over' : 'runs beside the one before',
        }}
      />
      <ClockNote zone={timezone} />
      <Next schedule={schedule} />
      <Ticks archive={archive} ticks={schedule.ticks.slice(0, 10)} />
    </div>
  )
}

function Actions({ schedule: { id, archive, workflow, state } }: { readonly schedule: Whole }) {
  const queries = useQueryClient()
  const refusal = useRefusal(routes.schedules.pause)
  const runRefusal = useRefusal(routes.schedules.run)
  const attempt = (work: () => Promise<string>) => {
    work()
      .then((told) => tell(told))
      .catch((error: Error) => tell(error.message, { isError: true }))
      .finally(() => void queries.invalidateQueries({ predicate: ({ queryKey }) => isOfSchedules(queryKey[0]) }))
  }
  const run = async () => {
    const { rev, tasks } = await call(routes.schedules.run, { params: { id } })
    return `${workflow} of ${archive} runs at revision ${rev}: ${tasks.length} tasks`
  }
  const pause = async () => {
    await call(routes.schedules.pause, { params: { id } })
    return 'The schedule is paused: what passes meanwhile is not made up for'
  }
  const resume = async () => {
    await call(routes.schedules.resume, { params: { id } })
    return 'The schedule goes on'
  }
  return (
    <div className="row">
      <Button kind="primary" icon={Play} refusal={runRefusal} onClick={() => attempt(run)}>
        Run now
      </Button>
      {state === 'paused' ? (
        <Button icon={CirclePlay} refusal={refusal} onClick={() => attempt(resume)}>
          Resume
        </Button>
      ) : (
        <Button icon={CirclePause} refusal={refusal} onClick={() => attempt(pause)}>
          Pause
        </Button>
      )}
    </div>
  )
}

const isOfSchedules = (name: unknown) => name === routes.schedules.list.name || name === routes.schedules.get.name

/** Says when the clocks there change soon, and what that does to times. */
function ClockNote({ zone }: { readonly zone: string }) {
  const change = findZoneChange(clock.now(), DAYS_AHEAD, zone)
  if (change === undefined) return null
  const minutes = Math.abs(change.byMinutes)
  return (
    <p className="schedule-note">
      On {inZone(change.at, zone, { dateStyle: 'long' })} the clocks of {zone} go{' '}
      {change.byMinutes > 0 ? 'forward' : 'back'} by {minutes} minutes.{' '}
      {change.byMinutes > 0
        ? 'A time that is left out comes when the clock has jumped.'
        : 'A time that comes twice is taken once.'}
    </p>
  )
}

function inZone(at: number, timeZone: string, look: Intl.DateTimeFormatOptions): string {
  try {
    return new Intl.DateTimeFormat(undefined, { ...look, timeZone }).format(at)
  } catch {
    return new Date(at).toISOString()
  }
}

const LOOK: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
}

function Next({ schedule: { next, timezone, state } }: { readonly schedule: Whole }) {
  const mine = zoneNames[useZone()]
  if (next.length === 0 || state === 'paused') {
    return <p className="muted">{state === 'paused' ? 'It is paused: no time comes.' : 'No time comes.'}</p>
  }
  return (
    <table className="schedule-table">
      <caption className="visually-hidden">The next five times</caption>
      <thead>
        <tr>
          <th scope="col">Next in {timezone}</th>
          <th scope="col">in {mine}</th>
          <th scope="col">
            <span className="visually-hidden">From now</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {next.slice(0, 5).map((at) => (
          <tr key={at}>
            <td>{inZone(Date.parse(at), timezone, LOOK)}</td>
            <td>{inZone(Date.parse(at), mine, LOOK)}</td>
            <td className="muted">
              <RelativeTime at={at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Ticks({ archive, ticks }: { readonly archive: string; readonly ticks: readonly Tick[] }) {
  if (ticks.length === 0) return <p className="muted">It has not come yet.</p>
  return (
    <div className="stack">
      <div
        className="schedule-marks"
        role="img"
        aria-label={`The last ${ticks.length}: ${[...ticks]
          .reverse()
          .map(({ outcome }) => outcomes[outcome].word)
          .join(', ')}`}
      >
        {[...ticks].reverse().map((tick) => (
          <span
            key={tick.taken_at}
            className="schedule-mark"
            data-outcome={tick.outcome}
            title={formatInstant(Date.parse(tick.at))}
          >
            {outcomes[tick.outcome].glyph}
          </span>
        ))}
      </div>
      <table className="schedule-table">
        <caption className="visually-hidden">What came of the last times</caption>
        <tbody>
          {ticks.map((tick) => (
            <tr key={tick.taken_at}>
              <td>
                <RelativeTime at={tick.at} />
              </td>
              <td>
                {outcomes[tick.outcome].word}
                {tick.actor !== null && ` for ${tick.actor}`}
                {tick.missed_since !== null && ', for all that were missed'}
              </td>
              <td className="name">
                {tick.run !== null && tick.rev !== null ? (
                  <Link to="/archives/$name/r/$rev" params={{ name: archive, rev: String(tick.rev) }}>
                    run {tick.run} at revision {tick.rev}
                  </Link>
                ) : (
                  <span className="muted">{tick.reason}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
