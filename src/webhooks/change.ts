// What a person does to webhooks: create, change, rotate the secret, remove.
import { type Db, MANY_MS, transaction } from '../db/index.ts'
import { isTerminal, StateRefused, sequence, TaskNotFound } from '../engine/index.ts'
import type { Context } from './context.ts'
import { pendingTasks } from './deliveries.sql.ts'
import { WebhookChanged, WebhookNotFound } from './errors.ts'
import { toWebhook } from './read.ts'
import { newSecret } from './sign.ts'
import type { Webhook } from './webhook.ts'
import {
  deleteWebhook,
  disableWebhook,
  insertWebhook,
  lockWebhook,
  rotateSecret,
  updateWebhook,
} from './webhooks.sql.ts'

export type WebhookFields = {
  readonly url: string
  readonly description?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly names?: readonly string[] | undefined
}

/**
 * Adds a webhook in the transaction of `db`, told of what happens after a position. The secret is answered here and never
 * again.
 */
export async function create(
  { outbound }: Context,
  db: Db,
  fields: WebhookFields & { actor: string; after: string },
): Promise<Webhook & { secret: string }> {
  const url = outbound.check(fields.url).href
  const secret = newSecret()
  const row = await insertWebhook(db, {
    url,
    description: fields.description ?? '',
    scopes: fields.scopes ?? [],
    names: fields.names ?? [],
    secret,
    created_by: fields.actor,
    position: fields.after,
  })
  return { ...toWebhook(row), secret }
}

export type WebhookChange = {
  [K in keyof WebhookFields]?: WebhookFields[K] | undefined
} & {
  readonly isEnabled?: boolean | undefined
  /** Refuse unless the webhook is at this version. */
  readonly version?: number | undefined
}

/** Changes what is given. One that is enabled again is told of what happens from then on. */
export async function change(
  context: Context,
  id: string,
  fields: WebhookChange & { actor: string },
): Promise<Webhook> {
  const { pool, outbound } = context
  const url = fields.url === undefined ? null : outbound.check(fields.url).href
  const position = await sequence(pool)
  return transaction(pool, async (tx) => {
    const found = await lockWebhook(tx, { id })
    if (found === undefined) throw new WebhookNotFound(id)
    if (fields.version !== undefined && fields.version !== found.version) throw new WebhookChanged(id, found.version)
    const row = await updateWebhook(tx, {
      id,
      url,
      description: fields.description ?? null,
      scopes: fields.scopes ?? null,
      names: fields.names ?? null,
      is_enabled: fields.isEnabled ?? null,
      because: `disabled by ${fields.actor}`,
      position,
    })
    if (row === undefined) throw new WebhookNotFound(id)
    return toWebhook(row)
  })
}

/** Makes a new secret, answered here and never again. The one before signs beside it for `keepSeconds`. */
export async function rotate(
  { pool }: Context,
  id: string,
  keepSeconds: number,
): Promise<{ secret: string; oldSecretUntil: Date | null }> {
  const secret = newSecret()
  const row = await rotateSecret(pool, { id, secret, keep_seconds: keepSeconds })
  if (row === undefined) throw new WebhookNotFound(id)
  return { secret, oldSecretUntil: row.old_secret_until }
}

const BATCH = 1000

/**
 * Removes a webhook with its deliveries. Disabled first, so that nothing is added while the tasks of its deliveries are
 * canceled; a task that slips through finds no delivery and ends.
 */
export async function remove(
  { pool, millrace }: Context,
  id: string,
  { actor, version }: { readonly actor: string; readonly version?: number | undefined },
): Promise<void> {
  await transaction(pool, async (tx) => {
    const found = await lockWebhook(tx, { id })
    if (found === undefined) throw new WebhookNotFound(id)
    if (version !== undefined && version !== found.version) throw new WebhookChanged(id, found.version)
    await disableWebhook(tx, { id, because: `is being removed by ${actor}` })
  })
  for (;;) {
    const tasks = (await pendingTasks(pool, { webhook: id, limit: BATCH })).map(({ task }) => task)
    if (tasks.length === 0) break
    for (const task of tasks) await cancelIfUnfinished({ millrace }, task, `webhook ${id} was removed by ${actor}`)
  }
  // Whoever records a sending just now has the delivery and wants the webhook: one of the two has to begin again.
  await transaction(pool, (tx) => deleteWebhook(tx, { id }), { statementMs: MANY_MS })
}

/** Cancels the task, unless it has ended by itself meanwhile. */
export async function cancelIfUnfinished(
  { millrace }: Pick<Context, 'millrace'>,
  task: string,
  cause: string,
): Promise<void> {
  try {
    await millrace.cancel(task, { actor: 'webhooks', cause })
  } catch (error) {
    const hasEnded = error instanceof StateRefused && isTerminal(error.state)
    if (!hasEnded && !(error instanceof TaskNotFound)) throw error
  }
}
