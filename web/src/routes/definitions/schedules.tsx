import type { BodyAnswered, routes } from '../../api.ts'
import { formatInstant } from '../../format.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Link } from '../../parts/link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { RelativeTime } from '../../parts/time.tsx'

type Schedule = BodyAnswered<typeof routes.definitions.get>['schedules'][number]

/** When workflows of these files run by themselves. */
export function PlannedSchedules({ schedules }: { readonly schedules: readonly Schedule[] }) {
  if (schedules.length === 0) {
    return (
      <Panel>
        <EmptyState title="No workflow has a schedule">
          A workflow with on: schedule: [&#123; cron: "0 3 * * *" &#125;] runs every night.
        </EmptyState>
      </Panel>
    )
  }
  return (
    <div className="stack">
      {schedules.map((schedule) => (
        <Panel
          key={`${schedule.workflow} ${schedule.cron} ${schedule.timezone}`}
          title={<span className="name">{schedule.workflow}</span>}
          actions={<Link to="/schedules">Schedules</Link>}
        >
          <p>
            {schedule.words} <span className="muted">({schedule.timezone})</span> <code>{schedule.cron}</code>
          </p>
          <ul className="definitions-times" aria-label="Next times">
            {schedule.next.map((at) => (
              <li key={at}>
                {formatInstant(Date.parse(at))}{' '}
                <span className="muted">here, {inZone(at, schedule.timezone)} there</span>, <RelativeTime at={at} />
              </li>
            ))}
          </ul>
        </Panel>
      ))}
    </div>
  )
}

function inZone(at: string, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
      Date.parse(at),
    )
  } catch {
    return at // a zone that this browser does not know
  }
}
