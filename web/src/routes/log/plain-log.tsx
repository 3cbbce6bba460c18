import { type BodyAnswered, routes, useCall } from '../../api.ts'
import { formatCount } from '../../format.ts'
import type { LogChoice } from '../../log/choice.ts'
import { Link } from '../../parts/link.tsx'
import { Loaded } from '../../parts/panel.tsx'
import './log.css'

const LINES = 2_000

type Lines = BodyAnswered<typeof routes.taskLog.lines>
type PlainLogProps = { readonly id: string; readonly choice: LogChoice; readonly from: number }

/** A log as plain text, so many lines at a time: for screen readers, and to select by hand. */
export function PlainLog({ id, choice, from }: PlainLogProps) {
  const stream = choice.stream === 'stdout' || choice.stream === 'stderr' ? choice.stream : 'mixed'
  const attempt = choice.attempt === undefined ? {} : { attempt: Number(choice.attempt) }
  const lines = useCall(routes.taskLog.lines, {
    params: { id },
    query: { ...attempt, stream, from_line: from, limit: LINES },
  })
  return <Loaded query={lines}>{(page) => <Text id={id} choice={choice} from={from} page={page} />}</Loaded>
}

function Text({ id, choice, from, page }: PlainLogProps & { readonly page: Lines }) {
  const [first, last] = [page.items[0]?.number ?? from, page.items.at(-1)?.number ?? from]
  const at = (line: number) => ({ ...choice, view: 'plain', from: String(line) })
  return (
    <div className="log-plain">
      <p className="row muted">
        Lines {formatCount(first)} to {formatCount(last)} of {formatCount(page.total_lines)}
        {first > 1 && (
          <Link to="/tasks/$id/log" params={{ id }} search={at(Math.max(1, first - LINES))}>
            Lines before
          </Link>
        )}
        {page.next_line !== null && (
          <Link to="/tasks/$id/log" params={{ id }} search={at(page.next_line)}>
            Lines after
          </Link>
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{page.items.map(({ text }) => plain(text)).join('\n')}</pre>
    </div>
  )
}

const ESCAPES = new RegExp(
  [String.raw`\u001b\[[0-?]*[ -/]*[@-~]`, String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?`].join('|'),
  'g',
)

const plain = (text: string) => text.replace(ESCAPES, '')
