import type { BodyAnswered, routes } from '../../api.ts'
import { Link } from '../../parts/link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { WithTimes } from '../../parts/time.tsx'
import { nameOfTask } from '../../tasks/task-name.ts'

type Task = BodyAnswered<typeof routes.tasks.get>

/** Why the task is in its state, in one sentence, with links to those that stand in the way. */
export function Why({ task }: { readonly task: Task }) {
  const known = new Map([...task.requirements, ...task.dependents].map((one) => [one.id, one]))
  const culprits = task.culprits.flatMap((id) => known.get(id) ?? [])
  const replaced = task.superseded_by
  return (
    <Panel title="Why">
      <div className="task-why">
        <p className="task-why-sentence name">
          It <WithTimes sentence={task.why} of={(text) => linked(text, new Set(task.culprits))} />
          {/[.!?]$/.test(task.why) ? '' : '.'}
        </p>
        {(culprits.length > 0 || replaced !== null) && (
          <ul className="task-culprits" aria-label="Because of">
            {culprits.map((one) => (
              <li key={one.id}>
                <StateBadge look={taskLooks[one.state]} />{' '}
                <Link to="/tasks/$id" params={{ id: one.id }} className="mono name">
                  {nameOfTask(one)}
                </Link>
              </li>
            ))}
            {replaced !== null && (
              <li>
                superseded by{' '}
                <Link to="/tasks/$id" params={{ id: replaced }} className="mono">
                  task {replaced}
                </Link>
              </li>
            )}
          </ul>
        )}
      </div>
    </Panel>
  )
}

/** The sentence with each number of a culprit as a link to it. */
function linked(sentence: string, culprits: ReadonlySet<string>) {
  const parts = sentence.split(/((?:task |milestone )?\b\d+\b)/)
  let at = 0
  return parts.map((part) => {
    const id = /(\d+)$/.exec(part)?.[1]
    const key = at
    at += part.length
    return id !== undefined && culprits.has(id) ? (
      <Link key={key} to="/tasks/$id" params={{ id }}>
        {part}
      </Link>
    ) : (
      part
    )
  })
}
