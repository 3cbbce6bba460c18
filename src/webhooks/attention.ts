import type { Db } from '../db/index.ts'
import type { Attention } from '../engine/index.ts'
import { failingWebhooks } from './webhooks.sql.ts'

const MOST = 100

/** Receivers that are not told of what happens. */
export async function attention(db: Db): Promise<Attention[]> {
  const rows = await failingWebhooks(db, { limit: MOST })
  return rows.map(({ id, url, disabled_at: disabledAt, disabled_because: because, failing_since: failingSince }) => {
    const host = URL.canParse(url) ? new URL(url).host : url
    const of = { webhook: id, scope: `webhook:${id}`, count: 1 }
    if (disabledAt !== null) {
      const sentence = `the webhook to ${host} was disabled${because === null ? '' : `: ${because}`}`
      return {
        ...of,
        code: 'webhook_disabled',
        severity: 'warning',
        sentence,
        since: disabledAt,
        action: 'webhooks.change',
      }
    }
    const sentence = `the webhook to ${host} fails`
    return {
      ...of,
      code: 'webhook_failing',
      severity: 'warning',
      sentence,
      since: failingSince,
      action: 'webhooks.test',
    }
  })
}
