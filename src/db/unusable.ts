/** The database cannot be used as it is. */
export class DatabaseUnusable extends Error {
  readonly code: string = 'database_unusable'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

/** The database's or the role's default isolation is stricter than the engine's statements are written for, and cannot be changed here. */
export class IsolationUnusable extends DatabaseUnusable {
  override readonly code = 'isolation_refused'
  constructor(isolation: string) {
    super(
      `transactions of this role are ${isolation.toUpperCase()} by default, and Millrace needs READ COMMITTED`,
      "run `alter role … set default_transaction_isolation = 'read committed'`, or connect without the pooler",
    )
  }
}
