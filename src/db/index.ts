export { type Embedded, type EmbeddedOptions, startEmbedded } from './embedded.ts'
export { DataDirectoryInUse, EmbeddedUnusable } from './embedded-errors.ts'
export { type Listener, type ListenOptions, listen } from './listen.ts'
export { machine } from './machine.ts'
export { migrate, migrationSql, type SchemaStatus, SchemaTooNew, schemaStatus } from './migrate.ts'
export { type Client, createPool, type Db, type Pool, type PoolOptions } from './pool.ts'
export {
  array,
  bool,
  float8,
  int2,
  int4,
  int8,
  json,
  jsonb,
  many,
  maybe,
  named,
  nullable,
  one,
  registry,
  run,
  type SqlType,
  type Statement,
  text,
  timestamptz,
} from './statement.ts'
export { isConnectionLost, isRetryable, isStoodStill, savepoint, transaction } from './transaction.ts'
