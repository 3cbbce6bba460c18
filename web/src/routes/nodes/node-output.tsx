import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { call, routes } from '../../api.ts'
import { useLiveState } from '../../live.ts'
import { Button } from '../../parts/button.tsx'
import { Link } from '../../parts/link.tsx'
import { Failure, Loading } from '../../parts/panel.tsx'
import { type OutputView, readOutput } from './read-output.ts'

const streams = {
  mixedout: { label: 'Mixed', stream: 'mixed' },
  stdout: { label: 'stdout', stream: 'stdout' },
  stderr: { label: 'stderr', stream: 'stderr' },
} as const
export type StreamKey = keyof typeof streams
export const isStreamKey = (text: string | undefined): text is StreamKey => text !== undefined && text in streams

type NodeOutputProps = {
  readonly id: string
  readonly task: string
  readonly stream: StreamKey
  /** Changes when the node starts again: there is another output to read. */
  readonly startedAt: string
  readonly onStream: (stream: StreamKey) => void
}

/** What a node has written, as it writes it. */
export function NodeOutput({ id, task, stream, startedAt, onStream }: NodeOutputProps) {
  return (
    <div className="node-output">
      <div className="row node-output-bar">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be drawn as a form */}
        <div className="row" role="group" aria-label="Stream">
          {Object.entries(streams).map(([key, { label }]) => (
            <Button
              key={key}
              kind={key === stream ? 'plain' : 'quiet'}
              aria-pressed={key === stream}
              onClick={() => onStream(key as StreamKey)}
            >
              {label}
            </Button>
          ))}
        </div>
        <Link to="/tasks/$id/log" params={{ id: task }} search={{ stream: streams[stream].stream }}>
          Whole log
        </Link>
      </div>
      <Text key={`${id} ${stream} ${startedAt}`} id={id} task={task} stream={stream} />
    </div>
  )
}

// Colours and other codes of terminals: the log's own page shows them.
const ESCAPE = '\u001b'
const BELL = '\u0007'
const CODES = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)`, 'g')

function Text({ id, task, stream }: Pick<NodeOutputProps, 'id' | 'task' | 'stream'>) {
  const [view, setView] = useState<OutputView>({ text: '', isCut: false, state: 'loading' })
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  const isPaused = useLiveState().is === 'paused'
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round begins anew
  useEffect(() => {
    if (isPaused) return
    const ending = new AbortController()
    const params = { id, key: stream }
    readOutput({
      ask: (query, signal) => call(routes.nodes.read, { params, query }, { signal }),
      size: async (signal) => {
        const query = { stream: streams[stream].stream, limit: 1 }
        return (await call(routes.taskLog.lines, { params: { id: task }, query }, { signal })).total_bytes
      },
      onView: setView,
      signal: ending.signal,
    }).catch((refused: unknown) => {
      if (!ending.signal.aborted) setError(refused)
    })
    return () => ending.abort()
  }, [id, task, stream, isPaused, round])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the text
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [view.text])
  const again = () => {
    setError(undefined)
    setRound(round + 1)
  }
  if (error !== undefined) return <Failure error={error} onRetry={again} />
  if (view.state === 'loading') return <Loading />
  return (
    <>
      {view.isCut && (
        <p className="node-output-note">
          Only the end is shown here.{' '}
          <Link to="/tasks/$id/log" params={{ id: task }} search={{ stream: streams[stream].stream }}>
            Read all of it
          </Link>
        </p>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      <pre
        ref={box}
        className="node-output-text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        role="group"
        aria-label={`Output, ${streams[stream].label}`}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 30
        }}
      >
        {view.text.replace(CODES, '')}
        {view.text === '' && (
          <span className="muted">
            {view.state === 'over' ? 'It has written nothing.' : 'It has written nothing yet.'}
          </span>
        )}
      </pre>
      <p className="node-output-note" role="status">
        {view.state === 'growing' ? 'Following: more may come.' : 'This is the end of it.'}
      </p>
    </>
  )
}
