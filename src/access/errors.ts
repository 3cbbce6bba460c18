/** A token of that name works already. */
export class TokenNameTaken extends Error {
  readonly code = 'token_name_taken'
  readonly remedy = 'choose another name, or revoke the other token first'
  constructor(name: string) {
    super(`there is a token named ${name} already`)
  }
}

/** A token that has ended before it begins. */
export class ExpiryInPast extends Error {
  readonly code = 'invalid_option'
  constructor(expiresAt: Date) {
    super(`the token would have expired at ${expiresAt.toISOString()}, which is over`)
  }
}

export class TokenNotFound extends Error {
  readonly code = 'token_not_found'
  constructor(id: string) {
    super(`there is no token ${id}`)
  }
}

/** Somebody asks for a link that would let in with more than its maker may. */
export class RoleAboveOwn extends Error {
  readonly code = 'forbidden'
  constructor(name: string, own: string, wanted: string) {
    super(`${name} has the role ${own} and cannot hand out ${wanted}`)
  }
}

/** Only the administrator signs others out. */
export class NotAdministrator extends Error {
  readonly code = 'forbidden'
  constructor(name: string) {
    super(`signing everybody out needs the role admin, which ${name} does not have`)
  }
}

/** The same request is under way on this server or another. */
export class IdempotencyBusy extends Error {
  readonly code = 'idempotency_busy'
  readonly remedy = 'ask again in a moment with the same key: the answer will be that of the first request'
  constructor(key: string) {
    super(`a request with the idempotency key ${key} is still under way`)
  }
}

/** The key stands for another request. */
export class IdempotencyMismatch extends Error {
  readonly code = 'idempotency_mismatch'
  readonly remedy = 'use a new key for a new request'
  constructor(key: string) {
    super(`the idempotency key ${key} was used for a request with another path or body`)
  }
}
