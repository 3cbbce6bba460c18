// Signatures as Standard Webhooks 1.0 asks for them: HMAC-SHA256 over `id.timestamp.body`.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

export type Message = { readonly messageId: string; readonly body: string }

/** The headers that prove whom a message is from. Each secret signs, so that a receiver may know either. */
export function sign(message: Message, secrets: readonly string[], now = Date.now()): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const content = `${message.messageId}.${timestamp}.${message.body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  })
  return {
    'webhook-id': message.messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
