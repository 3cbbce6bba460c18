// Receivers outside that are told of events.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, id, limit, pageOf, storable, time } from './shapes.ts'

const url = z.string().min(1).max(2000).describe('http or https; inner addresses need outbound_allow')
const description = storable(z.string().max(1000))
const scopes = z
  .array(storable(z.string().min(1).max(1000)))
  .max(50)
  .describe('only events of these scopes; one that ends in * takes all that begin so; none: all')
const names = z
  .array(storable(z.string().min(1).max(100)))
  .max(100)
  .describe('only events of these names; none: all')

const webhook = z
  .object({
    id,
    url: z.string(),
    description: z.string(),
    scopes: z.array(z.string()),
    names: z.array(z.string()),
    enabled: z.boolean(),
    disabled_at: time.nullable(),
    disabled_because: z.string().nullable(),
    failing_since: time.nullable().describe('the first failure after the last success'),
    old_secret_until: time.nullable().describe('until then the secret before the last rotation signs as well'),
    created_at: time,
    created_by: z.string(),
    version: z.int(),
  })
  .meta({ id: 'Webhook' })

const delivery = z
  .object({
    id,
    message_id: z.string().describe('the webhook-id header: the same however often it is sent'),
    event: z.string().nullable().describe('the id of the event; null: a test, or the notice that events were missed'),
    name: z.string(),
    state: z.enum(['pending', 'succeeded', 'failed']),
    created_at: time,
    ended_at: time.nullable(),
    next_at: time.nullable().describe('when it is sent again'),
    task: id.nullable().describe('the task that sends it'),
    attempts: z.array(
      z.object({
        number: z.int(),
        at: time,
        duration_ms: z.int(),
        status: z.int().nullable().describe('null: no answer came'),
        error: z.string().nullable().describe('null: the receiver took it'),
        answer: z.string().nullable().describe('the first 1000 bytes of what the receiver said'),
      }),
    ),
  })
  .meta({ id: 'WebhookDelivery' })

const secret = z.string().describe('whsec_…: shown here and never again')
const params = z.strictObject({ id })
const access = { role: 'admin' } as const

export const webhooks = {
  create: route({
    method: 'POST',
    path: '/v1/webhooks',
    name: 'webhooks.create',
    summary: 'Have a receiver told of what happens from now on',
    access,
    body: z.strictObject({
      url,
      description: description.optional(),
      scopes: scopes.optional(),
      names: names.optional(),
    }),
    isCreating: true,
    answers: {
      201: webhook.extend({
        secret: secret.nullable().describe('whsec_…: shown here and never again; null: this answer is a repetition'),
      }),
    },
  }),
  list: route({
    method: 'GET',
    path: '/v1/webhooks',
    name: 'webhooks.list',
    summary: 'All webhooks, the oldest first',
    access,
    query: z.strictObject({ limit: limit(500, 100), cursor: cursor.optional() }),
    answers: { 200: pageOf(webhook) },
  }),
  get: route({
    method: 'GET',
    path: '/v1/webhooks/{id}',
    name: 'webhooks.get',
    summary: 'One webhook',
    access,
    params,
    isVersioned: true,
    answers: { 200: webhook },
  }),
  change: route({
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    name: 'webhooks.change',
    summary: 'Change a webhook, disable it or enable it again',
    description: 'One that is enabled again is told of what happens from then on.',
    access,
    params,
    body: z.strictObject({
      url: url.optional(),
      description: description.optional(),
      scopes: scopes.optional(),
      names: names.optional(),
      enabled: z.boolean().optional(),
    }),
    isVersioned: true,
    answers: { 200: webhook },
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    name: 'webhooks.remove',
    summary: 'Remove a webhook with its deliveries; what is still to be sent is not sent',
    access,
    params,
    isVersioned: true,
    answers: { 204: 'empty' },
  }),
  rotate: route({
    method: 'POST',
    path: '/v1/webhooks/{id}/rotate',
    name: 'webhooks.rotate',
    summary: 'Make a new secret; the one before signs as well for a while',
    access,
    params,
    body: z
      .strictObject({
        keep_seconds: z
          .int()
          .min(0)
          .max(30 * 86_400)
          .default(86_400)
          .describe('how long the secret before signs as well'),
      })
      .optional(),
    answers: { 200: z.object({ secret, old_secret_until: time.nullable() }) },
  }),
  test: route({
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    name: 'webhooks.test',
    summary: 'Send a test message once, now, and say what came of it',
    access,
    params,
    answers: { 200: delivery },
  }),
  deliveries: route({
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries',
    name: 'webhooks.deliveries',
    summary: 'What was sent, the newest first, with every attempt',
    access,
    params,
    query: z.strictObject({
      state: z.enum(['pending', 'succeeded', 'failed']).optional(),
      limit: limit(500, 100),
      cursor: cursor.optional(),
    }),
    answers: { 200: pageOf(delivery) },
  }),
  resend: route({
    method: 'POST',
    path: '/v1/webhooks/{id}/deliveries/{delivery}/resend',
    name: 'webhooks.resend',
    summary: 'Send a delivery again, at once, under the same id',
    access,
    params: z.strictObject({ id, delivery: id }),
    answers: { 202: delivery },
  }),
}
