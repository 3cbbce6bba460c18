import type { routes as apiRoutes, BodyAnswered } from '../api/index.ts'
import type { Context } from './context.ts'
import type { Style } from './render/style.ts'
import type { Column } from './render/table.ts'
import { ago, duration } from './render/time.ts'

type Webhooks = (typeof apiRoutes)['webhooks']
export type Webhook = BodyAnswered<Webhooks['list']>['items'][number]
export type Delivery = BodyAnswered<Webhooks['deliveries']>['items'][number]

/** What an argument names, for the help. */
export const WEBHOOK = 'number of the webhook, as `millrace webhook ls` shows it'

const told = (words: readonly string[]) => (words.length === 0 ? 'all' : words.join(' '))

export const stateOf = ({ enabled, failing_since }: Webhook): string =>
  !enabled ? 'disabled' : failing_since === null ? 'enabled' : 'failing'

export const webhookColumns: readonly Column<Webhook>[] = [
  { title: 'id', of: ({ id }) => id, align: 'right' },
  { title: 'state', of: stateOf },
  { title: 'url', of: ({ url }) => url, least: 20, importance: 'name' },
  { title: 'scopes', of: ({ scopes }) => told(scopes), least: 8 },
  { title: 'events', of: ({ names }) => told(names), least: 8 },
  { title: 'created', of: ({ created_at }) => ago(created_at), plain: ({ created_at }) => created_at },
]

const colors = { pending: 'cyan', succeeded: 'green', failed: 'red' } as const satisfies Record<
  Delivery['state'],
  keyof Style
>

/** What came of the last attempt: the receiver's status, or why there was none. */
export function outcomeOf({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (last === undefined) return 'not sent yet'
  const answer = last.status === null ? (last.error ?? 'no answer') : `${last.status}`
  return `${answer} in ${duration(last.duration_ms)}`
}

export function deliveryColumns(style: Style): readonly Column<Delivery>[] {
  return [
    { title: 'id', of: ({ id }) => id, align: 'right' },
    { title: 'state', of: ({ state }) => state, paint: (text, { state }) => style[colors[state]](text) },
    { title: 'event', of: ({ name }) => name, least: 8 },
    { title: 'created', of: ({ created_at }) => ago(created_at), plain: ({ created_at }) => created_at },
    { title: 'attempts', of: ({ attempts }) => String(attempts.length), align: 'right' },
    { title: 'last answer', of: outcomeOf, least: 12 },
    { title: 'next', of: ({ next_at }) => ago(next_at), plain: ({ next_at }) => next_at ?? '' },
  ]
}

export async function printDeliveries({ output }: Context, items: readonly Delivery[], none = ''): Promise<void> {
  await output.list(items, deliveryColumns(output.style), { id: ({ id }) => id, none })
}
