import { AlertTriangle, Clock, Copy, Download, ExternalLink, FileText, Link2, Search, WrapText } from 'lucide-react'
import { type BodyAnswered, call, routes } from '../../api.ts'
import { copyText } from '../../copy-text.ts'
import { formatBytes, formatCount } from '../../format.ts'
import type { LogChoicePatch } from '../../log/choice.ts'
import type { LogFacts } from '../../log/line-pages.ts'
import type { LineRange } from '../../log/permalink.ts'
import type { LogOf } from '../../log/use-log.ts'
import { IconButton } from '../../parts/button.tsx'
import { Link } from '../../parts/link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { tell } from '../../parts/toast.tsx'
import type { Reading } from './log-choices.ts'
import { rawAddressOf, type Times } from './log-row.tsx'

type ToolbarProps = {
  readonly task: BodyAnswered<typeof routes.tasks.get>
  readonly of: LogOf
  readonly facts: LogFacts
  readonly isPage: boolean
  readonly chosen: LineRange | undefined
  readonly reading: Reading
  readonly onReading: (patch: Partial<Reading>) => void
  readonly onChoose: (patch: LogChoicePatch) => void
  readonly onSearch: () => void
  readonly onError: (by: 1 | -1) => void
}

const timeWords: Readonly<Record<Times, string>> = {
  off: 'No times',
  since: 'Since the start',
  absolute: 'Time of day',
}

/** Which log is shown, how much there is, and what can be done with it. */
export function LogToolbar(props: ToolbarProps) {
  const { task, of, facts, reading, chosen } = props
  return (
    <div className="log-toolbar">
      <Which {...props} />
      <span className="log-size muted" role="status">
        {formatCount(facts.total_lines)} {facts.total_lines === 1 ? 'line' : 'lines'}, {formatBytes(facts.total_bytes)}
        {!facts.is_complete && <span className="log-live">under way</span>}
      </span>
      <div className="row log-tools">
        <IconButton icon={Search} label="Search the log (Ctrl-F)" onClick={props.onSearch} />
        <IconButton icon={AlertTriangle} label="Next error (n)" onClick={() => props.onError(1)} />
        <IconButton
          icon={WrapText}
          label="Wrap long lines"
          aria-pressed={reading.isWrapped}
          onClick={() => props.onReading({ isWrapped: !reading.isWrapped })}
        />
        <Menu
          label={`Times of lines: ${timeWords[reading.times]}`}
          icon={Clock}
          actions={(Object.keys(timeWords) as Times[]).map((times) => ({
            id: times,
            label: timeWords[times],
            isChosen: reading.times === times,
            onAction: () => props.onReading({ times }),
          }))}
        />
        {chosen !== undefined && (
          <IconButton icon={Link2} label="Copy the link to the chosen lines" onClick={() => void copyLink()} />
        )}
        <IconButton
          icon={Copy}
          label={chosen === undefined ? 'Copy the log' : `Copy ${wordsOf(chosen)}`}
          onClick={() => void copyLines(of, facts, chosen)}
        />
        <Addresses task={task} of={of} facts={facts} isPage={props.isPage} />
      </div>
    </div>
  )
}

function Which({ task, of, onChoose }: ToolbarProps) {
  return (
    <>
      <select
        className="log-select"
        aria-label="Attempt"
        value={of.attempt}
        onChange={(event) => onChoose({ attempt: event.target.value })}
      >
        {task.attempts.toReversed().map(({ number, outcome }) => (
          <option key={number} value={number}>
            Attempt {number}, {outcome ?? 'under way'}
          </option>
        ))}
        {task.attempts.every(({ number }) => number !== of.attempt) && (
          <option value={of.attempt}>Attempt {of.attempt}</option>
        )}
      </select>
      <select
        className="log-select"
        aria-label="Stream"
        value={of.stream}
        onChange={(event) => onChoose({ stream: event.target.value === 'mixed' ? undefined : event.target.value })}
      >
        <option value="mixed">stdout and stderr</option>
        <option value="stdout">stdout</option>
        <option value="stderr">stderr</option>
      </select>
    </>
  )
}

function Addresses({ task, of, facts, isPage }: Pick<ToolbarProps, 'task' | 'of' | 'facts' | 'isPage'>) {
  const raw = rawAddressOf(of.task, of.attempt, of.stream)
  // Followed to its end, the whole log is one answer; of one that still runs the answer would not end.
  const whole = facts.is_complete ? `${raw}&follow=1` : `${raw}&limit=16777216`
  return (
    <>
      <a
        className="button button-quiet button-icon"
        href={whole}
        download={`task-${task.id}-${of.attempt}.log`}
        aria-label="Download the log"
        title="Download the log"
      >
        <Download aria-hidden size={16} />
      </a>
      <Link
        className="button button-quiet button-icon"
        to="/tasks/$id/log"
        params={{ id: task.id }}
        search={{ attempt: String(of.attempt), stream: of.stream, view: 'plain' }}
        aria-label="As plain text"
        title="As plain text"
      >
        <FileText aria-hidden size={16} />
      </Link>
      {!isPage && (
        <Link
          className="button button-quiet button-icon"
          to="/tasks/$id/log"
          params={{ id: task.id }}
          search={{ attempt: String(of.attempt), ...(of.stream === 'mixed' ? {} : { stream: of.stream }) }}
          aria-label="On a page of its own"
          title="On a page of its own"
        >
          <ExternalLink aria-hidden size={16} />
        </Link>
      )}
    </>
  )
}

const wordsOf = ({ from, to }: LineRange) => (from === to ? `line ${from}` : `lines ${from} to ${to}`)

async function copyLink(): Promise<void> {
  const isCopied = await copyText(location.href)
  tell(isCopied ? 'The link is copied' : 'The browser does not let it be copied: take it from the address', {
    isError: !isCopied,
  })
}

const MOST_COPIED = 5_000

async function copyLines(
  { task, attempt, stream }: LogOf,
  facts: LogFacts,
  chosen: LineRange | undefined,
): Promise<void> {
  const { from, to } = chosen ?? { from: 1, to: facts.total_lines }
  if (to - from >= MOST_COPIED)
    return tell(`More than ${formatCount(MOST_COPIED)} lines are not copied: download the log`, { isError: true })
  try {
    const texts: string[] = []
    for (let next: number | null = from; next !== null && next <= to; ) {
      const query = { attempt, stream, from_line: next, limit: to - next + 1 }
      const answer: BodyAnswered<typeof routes.taskLog.lines> = await call(routes.taskLog.lines, {
        params: { id: task },
        query,
      })
      texts.push(...answer.items.map(({ text }) => text))
      next = answer.next_line
    }
    const isCopied = await copyText(texts.join('\n'))
    tell(isCopied ? `${formatCount(texts.length)} lines are copied` : 'The browser does not let it be copied', {
      isError: !isCopied,
    })
  } catch (error) {
    tell(`Nothing is copied: ${(error as Error).message}`, { isError: true })
  }
}
