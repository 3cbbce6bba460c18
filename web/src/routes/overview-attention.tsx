import { CircleCheck } from 'lucide-react'
import { useEffect, useState } from 'react'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { quoted } from '../filter.ts'
import { useFresh } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { Link } from '../parts/link.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { steady } from './steady-order.ts'

export type Attention = BodyAnswered<typeof routes.overview.attention>['items'][number]

const SHOWN = 12
const marks = { critical: '✕', warning: '!', notice: '‖' } as const

/** What somebody should look at. Nothing moves by itself: resolved items stay, new ones wait for a click. */
export function NeedsAttention() {
  const query = useCall(routes.overview.attention, { query: {} })
  useFresh(['*'], ['overview.attention'])
  const { shown, gone, newer, showAll } = useSteady(query.data?.items)
  const [isWhole, setWhole] = useState(false)
  return (
    <Panel
      title="Needs attention"
      isFlush
      actions={
        newer + gone.size > 0 && (
          <Button kind="quiet" onClick={showAll}>
            {newer > 0 ? `${newer} new: show` : `${gone.size} resolved: clear`}
          </Button>
        )
      }
    >
      <Loaded
        query={query}
        isEmpty={() => shown.length === 0}
        empty={
          <p className="attention-none">
            <CircleCheck aria-hidden size={18} /> Nothing failed in the last day, nothing is held, and every line moves.
          </p>
        }
      >
        {() => (
          <>
            <ul className="attention" aria-label="What needs attention">
              {shown.slice(0, isWhole ? shown.length : SHOWN).map((item) => (
                <Item key={keyOf(item)} item={item} isGone={gone.has(keyOf(item))} />
              ))}
            </ul>
            {shown.length > SHOWN && !isWhole && (
              <p className="attention-more">
                <Button kind="quiet" onClick={() => setWhole(true)}>
                  {shown.length - SHOWN} more
                </Button>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

/** The same matter, however many tasks it is about by now. */
const keyOf = ({ code, scope, kind, queue, archive, worker, schedule, webhook, key }: Attention) =>
  [code, scope, kind, queue, archive, worker, schedule, webhook, key?.replace(/\d+/g, '0')].join(' ')

/** Keeps the order in which the items were first shown, and those that are resolved as they were. */
function useSteady(items: readonly Attention[] | undefined) {
  const [first, setFirst] = useState<readonly Attention[]>()
  const byKey = new Map([...(first ?? []), ...(items ?? [])].map((item) => [keyOf(item), item]))
  const keys = [...new Set(items?.map(keyOf))]
  const { shown, gone, newer, isFirst } = steady(first?.map(keyOf), keys)
  useEffect(() => {
    if (isFirst && keys.length > 0) setFirst(items)
  })
  return {
    shown: shown.flatMap((key) => byKey.get(key) ?? []),
    gone: new Set(items === undefined ? [] : gone),
    newer: newer.length,
    showAll: () => setFirst(items),
  }
}

function Item({ item, isGone }: { readonly item: Attention; readonly isGone: boolean }) {
  return (
    <li className={`attention-item attention-${isGone ? 'gone' : item.severity}`}>
      <span className="attention-mark" aria-hidden="true">
        {isGone ? '✓' : marks[item.severity]}
      </span>
      <span className="visually-hidden">{isGone ? 'resolved' : item.severity}: </span>
      <div className="attention-what">
        <Place item={item} />
      </div>
      {item.since !== null && (
        <span className="attention-since">
          <RelativeTime at={item.since} />
        </span>
      )}
    </li>
  )
}

/** The sentence, as a link to where something can be done about it. */
function Place({ item }: { readonly item: Attention }) {
  const { task, archive, revision, schedule, webhook, worker, code, queue, sentence } = item
  const words = <span className="name">{sentence}</span>
  if (code === 'no_worker' && queue !== null)
    return (
      <Link to="/tasks" search={{ q: `state:ready queue:${quoted(queue)}` }}>
        {words}
      </Link>
    )
  if (task !== null)
    return (
      <Link to="/tasks/$id" params={{ id: task }}>
        {words}
      </Link>
    )
  if (schedule !== null)
    return (
      <Link to="/schedules" search={{ schedule }}>
        {words}
      </Link>
    )
  if (archive !== null)
    return (
      <Link to="/archives/$name" params={{ name: archive }} search={revision === null ? {} : { at: `r${revision}` }}>
        {words}
      </Link>
    )
  if (webhook !== null)
    return (
      <Link to="/settings/webhooks" search={{ webhook }}>
        {words}
      </Link>
    )
  if (worker !== null) return <Link to="/workers">{words}</Link>
  return words
}
