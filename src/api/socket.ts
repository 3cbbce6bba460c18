// Messages of the WebSocket at `/v1/ws`, one JSON object each.
import { z } from 'zod'
import { eventQuery } from './events.ts'
import { storable } from './shapes.ts'

const subscription = storable(z.string().min(1).max(100))

/** What a client sends. */
export const socketMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auth'), token: z.string().min(1).max(1000) }),
  z.strictObject({ type: z.literal('subscribe'), id: subscription, ...eventQuery.shape }),
  z.strictObject({ type: z.literal('unsubscribe'), id: subscription }),
  z.strictObject({ type: z.literal('ping') }),
])
export type SocketMessage = z.output<typeof socketMessage>
