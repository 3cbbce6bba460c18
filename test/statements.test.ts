import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registry, type Statement } from '../src/db/index.ts'
import { database, type TestDatabase } from './database.ts'

// Every file with statements registers them when it is imported.
const src = fileURLToPath(new URL('../src/', import.meta.url))
const files = (readdirSync(src, { recursive: true }) as string[]).filter((file) => file.endsWith('.sql.ts'))
for (const file of files) await import(/* @vite-ignore */ `../src/${file}`)

let db: TestDatabase
let client: pg.Client
let typeNames: Map<number, string>

beforeAll(async () => {
  db = await database()
  client = new pg.Client({ connectionString: db.databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ oid: number; name: string }>(`
    select t.oid::int as oid, format('%s%s', own.name, case when e.oid is not null then '[]' end) as name
    from pg_type t
      left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
      cross join lateral (select coalesce(e.typname, t.typname) as typname, coalesce(e.typnamespace, t.typnamespace) as namespace) named
      cross join lateral (
        select case
          when named.namespace = 'pg_catalog'::regnamespace then named.typname::text
          else format('%s.%s', named.namespace::regnamespace, named.typname)
        end as name
      ) own
  `)
  typeNames = new Map(rows.map((row) => [row.oid, row.name]))
})

afterAll(async () => {
  await client.end()
  await db[Symbol.asyncDispose]()
})

type Described = { parameters: string[]; columns: [name: string, type: string][] }

type Protocol = NodeJS.EventEmitter & {
  parse(message: { name: string; text: string; types: number[] }): void
  describe(message: { type: 'S'; name: string }): void
  sync(): void
}

/** A query for the driver that is parsed and described, and never run. */
class Description {
  readonly answered: Promise<Described>
  readonly #statement: Statement
  #resolve: (described: Described) => void = () => {}
  #reject: (error: Error) => void = () => {}
  #parameters: number[] = []
  #columns: { name: string; dataTypeID: number }[] = []

  constructor(statement: Statement) {
    this.#statement = statement
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: Protocol): void {
    connection.once('parameterDescription', (message: { dataTypeIDs: number[] }) => {
      this.#parameters = message.dataTypeIDs
    })
    connection.parse({ name: this.#statement.name, text: this.#statement.text, types: [] })
    connection.describe({ type: 'S', name: this.#statement.name })
    connection.sync()
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = message.fields
  }

  handleError(error: Error): void {
    this.#reject(error)
  }

  handleReadyForQuery(): void {
    const nameOf = (oid: number) => typeNames.get(oid) ?? String(oid)
    this.#resolve({
      parameters: this.#parameters.map(nameOf),
      columns: this.#columns.map((column) => [column.name, nameOf(column.dataTypeID)]),
    })
  }
}

/** Asks the server what the statement takes and gives. */
function describe(statement: Statement): Promise<Described> {
  const description = new Description(statement)
  client.query(description as never)
  return description.answered
}

test('there are statements', () => {
  expect(files.length).toBeGreaterThan(3)
  expect(registry.size).toBeGreaterThan(30)
})

test.each([...registry.values()])('$name takes and answers what it declares', async (statement) => {
  const described = await describe(statement)
  const parameters = statement.parameters.map(([name, type], i) => [name, described.parameters[i], type.name])
  expect(parameters.map(([name, actual]) => [name, actual])).toEqual(
    parameters.map(([name, , wanted]) => [name, wanted]),
  )
  expect(described.parameters).toHaveLength(statement.parameters.length)
  if (statement.columns.length > 0 || described.columns.every(([, type]) => type !== 'void'))
    expect(described.columns).toEqual(statement.columns.map(([name, type]) => [name, type.name]))
})
