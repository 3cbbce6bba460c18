export type { Attempt, Delivery, Webhook } from './webhook.ts'
export { Webhooks, type WebhooksOptions } from './webhooks.ts'
