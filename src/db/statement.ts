// Statements are SQL written as SQL: a tagged template whose holes are names of parameters, never
// values. The text is therefore constant, cannot be injected into, and one test asks the server what
// every statement takes and returns and compares it with what is declared here.
import type { Db } from './pool.ts'
import { isPreparing } from './prepare.ts'
import { arrayWriter } from './write-array.ts'

/** A PostgreSQL type by its name there, carrying the TypeScript type it has here. */
export type SqlType<T> = { readonly name: string; readonly isNullable?: boolean; readonly as?: T }

const sqlType = <T>(name: string): SqlType<T> => ({ name })

export const bool = sqlType<boolean>('bool')
export const int2 = sqlType<number>('int2')
export const int4 = sqlType<number>('int4')
/** 64-bit numbers cross as decimal strings: a JavaScript number would alter them beyond 2^53. */
export const int8 = sqlType<string>('int8')
export const float8 = sqlType<number>('float8')
export const text = sqlType<string>('text')
/** Bytes; crosses as a Buffer in both directions. */
export const bytea = sqlType<Buffer>('bytea')
export const timestamptz = sqlType<Date>('timestamptz')
/** As a parameter: JSON text. As a column: the parsed value. */
export const jsonb = sqlType<unknown>('jsonb')
export const named = <T>(name: string): SqlType<T> => sqlType<T>(name)
export const array = <T>(element: SqlType<T>): SqlType<readonly T[]> => sqlType(`${element.name}[]`)
export const nullable = <T>(of: SqlType<T>): SqlType<T | null> => ({ ...of, isNullable: true }) as SqlType<T | null>

type Shape = { readonly [name: string]: SqlType<unknown> }
type Values<S extends Shape> = { [K in keyof S]: S[K] extends SqlType<infer T> ? T : never }

export type Statement = {
  readonly name: string
  readonly text: string
  readonly parameters: readonly (readonly [name: string, type: SqlType<unknown>])[]
  readonly columns: readonly (readonly [name: string, type: SqlType<unknown>])[]
}

/** Every statement of the program, by name; the statements test walks it. */
export const registry = new Map<string, Statement>()

/** A statement with what turns values into its parameters, for those who send it themselves. */
export type Question<V> = { readonly statement: Statement; readonly bind: (values: V) => unknown[] }

type Template<P extends Shape, R> = (
  strings: TemplateStringsArray,
  ...holes: (keyof P & string)[]
) => ((db: Db, values: Values<P>) => Promise<R>) & Question<Values<P>>

function declare<P extends Shape, C extends Shape, R>(
  name: string,
  parameters: P,
  columns: C,
  answer: (rows: Values<C>[]) => R,
): Template<P, R> {
  return (strings, ...holes) => {
    const order: string[] = []
    const sql = strings.reduce((sum, part, i) => {
      const hole = holes[i - 1] as string
      if (!order.includes(hole)) order.push(hole)
      return `${sum}$${order.indexOf(hole) + 1}${part}`
    })
    if (registry.has(name)) throw new Error(`two statements are named ${name}`)
    const statement: Statement = {
      name,
      text: sql,
      parameters: order.map((key) => [key, parameters[key] as SqlType<unknown>] as const),
      columns: Object.entries(columns),
    }
    registry.set(name, statement)
    const toText = order.map((key) => arrayWriter((parameters[key] as SqlType<unknown>).name))
    const bind = (values: Values<P>) => {
      const given = values as Record<string, unknown>
      return order.map((key, i) => {
        const value = given[key] ?? null
        return value === null ? null : (toText[i]?.(value as never) ?? value)
      })
    }
    const ask = async (db: Db, values: Values<P>) => {
      const bound = bind(values)
      const result = await db.query(isPreparing(db) ? { name, text: sql, values: bound } : { text: sql, values: bound })
      return answer(result.rows as Values<C>[])
    }
    return Object.assign(ask, { statement, bind })
  }
}

/** A statement that answers any number of rows. */
export const many = <P extends Shape, C extends Shape>(name: string, parameters: P, columns: C) =>
  declare(name, parameters, columns, (rows) => rows)

/** A statement that answers one row or none. */
export const maybe = <P extends Shape, C extends Shape>(name: string, parameters: P, columns: C) =>
  declare(name, parameters, columns, (rows) => rows[0])

/** A statement that always answers exactly one row. */
export const one = <P extends Shape, C extends Shape>(name: string, parameters: P, columns: C) =>
  declare(name, parameters, columns, (rows): Values<C> => {
    const row = rows[0]
    if (row === undefined) throw new Error(`statement ${name} answered no row`)
    return row
  })

/** A statement whose answer does not matter. */
export const run = <P extends Shape>(name: string, parameters: P) => declare(name, parameters, {}, () => undefined)
