// Turning events into deliveries. A webhook's position moves past an event in the transaction that makes the delivery,
// under a lock on the webhook: whichever server does it, each event becomes a delivery exactly once.
import { type Db, transaction } from '../db/index.ts'
import { type AnyWorker, newestPosition, PositionGone, readEvents } from '../engine/index.ts'
import type { Context } from './context.ts'
import { drawDeliveryIds, insertDeliveries } from './deliveries.sql.ts'
import { toEventMessage, toMessage } from './message.ts'
import type { Message } from './sign.ts'
import { isWanted, scopeOf } from './webhook.ts'
import { lockEnabled, moveWebhooks } from './webhooks.sql.ts'

const PAGE = 500
/** Deliveries to one receiver under way at once: a slow one does not take the places of the others. */
const MOST_AT_ONCE = 5

type Waiting = Awaited<ReturnType<typeof lockEnabled>>[number]
type Planned = { readonly webhook: string; readonly event: string | null; readonly name: string } & Message

/** Makes deliveries of a portion of the events that webhooks wait for. Answers whether there is more to be done. */
export async function planDeliveries(context: Context): Promise<boolean> {
  return transaction(context.pool, async (tx) => {
    let hasMore = false
    for (const group of samePosition(await lockEnabled(tx, {}))) {
      const { planned, next, isBehind } = await planGroup(tx, group)
      await insertPlanned(tx, context, planned)
      if (next !== group[0]?.position) await moveWebhooks(tx, { ids: group.map(({ id }) => id), position: next })
      hasMore ||= isBehind
    }
    return hasMore
  })
}

/** Those that have come equally far, which is all of them but new ones, are told by one reading. */
function samePosition(waiting: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>()
  for (const webhook of waiting) groups.set(webhook.position, [...(groups.get(webhook.position) ?? []), webhook])
  return [...groups.values()]
}

type Group = { readonly planned: Planned[]; readonly next: string; readonly isBehind: boolean }

async function planGroup(tx: Db, group: readonly Waiting[]): Promise<Group> {
  const after = group[0]?.position ?? '0'
  try {
    const { events, next, hasMore } = await readEvents(tx, { after, limit: PAGE })
    const planned = events.flatMap((event) =>
      group
        .filter((webhook) => isWanted(event, webhook))
        .map(({ id }) => ({ webhook: id, event: event.id, name: event.name, ...toEventMessage(event) })),
    )
    return { planned, next, isBehind: hasMore }
  } catch (error) {
    if (!(error instanceof PositionGone)) throw error
    const position = await newestPosition(tx)
    const notice = { type: 'webhook.reset', at: new Date(), data: { after, position } }
    const planned = group.map(({ id }) => ({ webhook: id, event: null, name: notice.type, ...toMessage(notice) }))
    return { planned, next: position, isBehind: false }
  }
}

async function insertPlanned(tx: Db, { millrace, worker }: Context, planned: readonly Planned[]): Promise<void> {
  if (planned.length === 0) return
  const ids = (await drawDeliveryIds(tx, { count: planned.length })).map(({ id }) => id)
  const tasks = await millrace.addMany(
    planned.map(({ webhook }, i) => toTask(worker, webhook, ids[i] ?? '')),
    { client: tx, actor: 'webhooks' },
  )
  await insertDeliveries(tx, {
    ids,
    webhooks: planned.map(({ webhook }) => webhook),
    message_ids: planned.map(({ messageId }) => messageId),
    events: planned.map(({ event }) => event),
    names: planned.map(({ name }) => name),
    bodies: planned.map(({ body }) => body),
    tasks: tasks.map(({ id }) => id),
  })
}

/** The task that sends a delivery. */
export const toTask = (worker: AnyWorker, webhook: string, delivery: string) => ({
  worker,
  payload: { delivery },
  scope: scopeOf(webhook),
  limit: { group: scopeOf(webhook), max: MOST_AT_ONCE },
})
