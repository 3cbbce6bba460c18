import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { type BodyAnswered, call, routes, useCall, useRefusal } from '../../api.ts'
import { formatDuration } from '../../format.ts'
import { useFresh } from '../../live.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Link } from '../../parts/link.tsx'
import { Loaded, Panel } from '../../parts/panel.tsx'
import { StateBadge, type StateLook } from '../../parts/state-badge.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { tell } from '../../parts/toast.tsx'

type Delivery = BodyAnswered<typeof routes.webhooks.deliveries>['items'][number]
type State = Delivery['state']

const page = getRouteApi('/shell/settings/webhooks')

const looks: Readonly<Record<State, StateLook>> = {
  pending: { glyph: '◔', word: 'on its way', colour: 'delayed' },
  succeeded: { glyph: '●', word: 'taken', colour: 'succeeded' },
  failed: { glyph: '✕', word: 'failed', colour: 'failed' },
}

const SHOWN = 50

/** What was sent to a receiver, with every attempt. */
export function Deliveries({ id }: { readonly id: string }) {
  const { state } = page.useSearch()
  const navigate = page.useNavigate()
  const wanted = (Object.keys(looks) as State[]).find((one) => one === state)
  const query = { limit: SHOWN, ...(wanted === undefined ? {} : { state: wanted }) }
  const list = useCall(routes.webhooks.deliveries, { params: { id }, query })
  useFresh([`webhook:${id}`], ['webhooks.deliveries', 'webhooks.list'])
  const narrow = (next: string) =>
    void navigate({ search: next === '' ? { webhook: id } : { webhook: id, state: next } })
  return (
    <Panel
      title="Deliveries"
      isFlush
      actions={
        <select
          className="input"
          aria-label="Deliveries that"
          value={wanted ?? ''}
          onChange={({ target }) => narrow(target.value)}
        >
          <option value="">All</option>
          {Object.entries(looks).map(([value, { word }]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      }
    >
      <Loaded
        query={list}
        isEmpty={({ items }) => items.length === 0}
        empty={<EmptyState title="Nothing like this was sent">A test message sends something at once.</EmptyState>}
      >
        {({ items, next_cursor }) => (
          <>
            {items.map((delivery) => (
              <OneDelivery key={delivery.id} webhook={id} delivery={delivery} />
            ))}
            {next_cursor !== null && (
              <p className="panel-body settings-note">
                The last {SHOWN} are shown; <code>GET /v1/webhooks/{id}/deliveries</code> has the rest.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function OneDelivery({ webhook, delivery }: { readonly webhook: string; readonly delivery: Delivery }) {
  const queries = useQueryClient()
  const refusal = useRefusal(routes.webhooks.resend)
  const { id, name, state, created_at, attempts, next_at, message_id, task } = delivery
  const resend = async () => {
    await call(routes.webhooks.resend, { params: { id: webhook, delivery: id } })
    tell(`${name} is sent again`)
    await queries.invalidateQueries({ queryKey: [routes.webhooks.deliveries.name] })
  }
  const last = attempts.at(-1)
  return (
    <details className="delivery">
      <summary>
        <StateBadge look={looks[state]} />
        <span className="name">
          {name} {last?.error != null && <span className="delivery-bad">{last.error}</span>}
        </span>
        <RelativeTime at={created_at} />
      </summary>
      <div className="delivery-body">
        <span className="name">
          Message <code>{message_id}</code>
          {next_at !== null && (
            <>
              , sent again <RelativeTime at={next_at} />
            </>
          )}
          {task !== null && (
            <>
              ,{' '}
              <Link to="/tasks/$id" params={{ id: task }}>
                task {task}
              </Link>
            </>
          )}
        </span>
        <ol className="delivery-attempts">
          {attempts.map(({ number, at, status, error, duration_ms }) => (
            <li key={number}>
              <RelativeTime at={at} />: {status === null ? 'no answer' : `answered ${status}`} after{' '}
              {formatDuration(duration_ms)}
              {error !== null && <span className="delivery-bad">, {error}</span>}
            </li>
          ))}
        </ol>
        {last?.answer ? <CodeBlock text={last.answer} label="answer" /> : null}
        <Button
          icon={RotateCw}
          refusal={refusal ?? (state === 'pending' ? 'It is still being sent.' : undefined)}
          onClick={() => {
            resend().catch((error: Error) => tell(error.message, { isError: true }))
          }}
        >
          Send again
        </Button>
      </div>
    </details>
  )
}
