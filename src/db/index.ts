export { type DatabaseFacts, describeDatabase } from './describe.ts'
export { type Embedded, type EmbeddedOptions, startEmbedded } from './embedded.ts'
export { examineDatabase, type Finding } from './examine.ts'
export { exportDatabase } from './export.ts'
export { importDatabase } from './import.ts'
export { LazyTimer } from './lazy-timer.ts'
export { Line } from './line.ts'
export { type Listener, type ListenOptions, listen } from './listen.ts'
export { machine } from './machine.ts'
export { migrate, migrationSql, type SchemaStatus, schemaStatus } from './migrate.ts'
export { type Database, type DatabaseOptions, openDatabase } from './open.ts'
export { openBeside } from './open-beside.ts'
export { type Client, createPool, type Db, type Pool, type PoolOptions, within } from './pool.ts'
export { prepareWhereDirect } from './prepare.ts'
export { prepareSchema, schemaProblem } from './prepare-schema.ts'
export {
  array,
  bool,
  bytea,
  float8,
  int2,
  int4,
  int8,
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
export {
  isConnectionLost,
  isLate,
  isPassing,
  isRetryable,
  isStoodStill,
  LONG_MS,
  MANY_MS,
  patient,
  savepoint,
  snapshot,
  transaction,
  unhurried,
} from './transaction.ts'
export { DatabaseUnusable } from './unusable.ts'
