import { Link } from '../../parts/link.tsx'
import { lookOf } from '../../parts/state-badge.tsx'
import type { ArchiveItem } from '../archives.tsx'
import { cellLooks } from '../loom/legend.tsx'

type Task = NonNullable<ArchiveItem['frontier']>['tasks'][number]

const SHOWN = 8
const COMMIT = 'COMMIT'

/** What deserves to be seen first: what fails, then what lags. */
export const rank = ({ state, behind, open }: Task): number =>
  (state === 'failed' ? 1_000_000 : 0) + (behind ?? (open > 0 ? 1_000 : 0))

/** How far each task has got: by sign, name, and by how many revisions it is behind. */
export function Frontier({ name, tasks }: { readonly name: string; readonly tasks: readonly Task[] }) {
  const own = tasks.filter((task) => task.name !== COMMIT)
  const shown = own.length <= SHOWN ? own : [...own].sort((a, b) => rank(b) - rank(a)).slice(0, SHOWN)
  return (
    <ul className="archives-tasks" aria-label="How far each task has got">
      {shown.map((task) => (
        <li key={task.name}>
          <Reached name={name} task={task} />
        </li>
      ))}
      {own.length > shown.length && <li className="muted">and {own.length - shown.length} more</li>}
    </ul>
  )
}

function Reached({ name, task }: { readonly name: string; readonly task: Task }) {
  const { rev, state, behind, open } = task
  const { glyph, colour, word } = state === null ? lookOf(cellLooks, 'waiting') : lookOf(cellLooks, state)
  const lag = behind === null ? (open > 0 ? `−${open}` : '') : behind > 0 ? `−${behind}` : ''
  const title = rev === null ? 'has come to no result in the last 30 revisions' : `${word} at r${rev}`
  return (
    <Link
      to="/archives/$name"
      params={{ name }}
      search={rev === null ? {} : { at: `r${rev}`, task: task.name }}
      className={`archives-task state-${colour}`}
      title={`${task.name} ${title}`}
    >
      <span className="archives-glyph" aria-hidden="true">
        {glyph}
      </span>
      <span className="name">{task.name}</span>
      {rev !== null && <span className="mono">r{rev}</span>}
      {lag !== '' && <span className="archives-lag">{lag}</span>}
      <span className="visually-hidden"> {title}</span>
    </Link>
  )
}
