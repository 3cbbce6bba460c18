export class WebhookNotFound extends Error {
  readonly code = 'webhook_not_found'
  constructor(id: string) {
    super(`webhook ${id} does not exist`)
  }
}

export class DeliveryNotFound extends Error {
  readonly code = 'delivery_not_found'
  constructor(webhook: string, id: string) {
    super(`webhook ${webhook} has no delivery ${id}`)
  }
}

/** The webhook was changed since the caller read it. */
export class WebhookChanged extends Error {
  readonly code = 'precondition_failed'
  readonly remedy = 'read it again, and repeat the change on what is there now'
  constructor(id: string, version: number) {
    super(`webhook ${id} was changed meanwhile and is at version ${version}`)
  }
}

/** Nothing is sent to a disabled webhook. */
export class WebhookDisabled extends Error {
  readonly code = 'webhook_disabled'
  readonly remedy = 'enable it first: PATCH it with {"enabled": true}'
  constructor(id: string) {
    super(`webhook ${id} is disabled`)
  }
}
