import { randomUUID } from 'node:crypto'
import type { TaskEvent } from '../engine/index.ts'
import type { Message } from './sign.ts'

/** What a receiver is sent, in the form that Standard Webhooks recommends. */
type Content = { readonly type: string; readonly at: Date; readonly data: unknown }

/** A message of its own id: the same event is another message for another webhook. */
export function toMessage({ type, at, data }: Content): Message {
  // The id holds no full stop: it stands before one in what is signed.
  const messageId = `msg_${randomUUID().replaceAll('-', '')}`
  return { messageId, body: JSON.stringify({ type, timestamp: at.toISOString(), data }) }
}

export const toEventMessage = (event: TaskEvent): Message =>
  toMessage({ type: typeOf(event.name), at: event.at, data: event })

/** Names of the engine's own events are single words; those of applications have dots already. */
const typeOf = (name: string) => (name.includes('.') ? name : `task.${name}`)
