import { expect, test } from 'vitest'
import { database } from '../../test/database.ts'
import { arrayWriter } from './write-array.ts'

const texts = ['plain', '', 'NULL', 'null', '"', '\\', '\\"', '{a,b}', ' a ', "'", 'é\n\t', null]

test('the server reads what was written', async () => {
  await using db = await database()
  const read = async (type: string, elements: readonly (string | number | boolean | null)[]) => {
    const { rows } = await db.pool.query(`select $1::${type} as found`, [arrayWriter(type)?.(elements)])
    return rows[0].found
  }
  expect(await read('text[]', texts)).toEqual(texts)
  expect(await read('text[]', [])).toEqual([])
  expect(await read('int8[]', ['9007199254740993', null, '-1'])).toEqual(['9007199254740993', null, '-1'])
  expect(await read('int4[]', [1, null, -2])).toEqual([1, null, -2])
  expect(await read('float8[]', [1.5, null, 1e21])).toEqual([1.5, null, 1e21])
  expect(await read('bool[]', [true, false, null])).toEqual([true, false, null])
  const values = texts.map((text) => ({ text }))
  expect(await read('jsonb[]', [...values.map((value) => JSON.stringify(value)), null])).toEqual([...values, null])
})

test('what has no plain form is left to the driver', () => {
  for (const type of ['timestamptz[]', 'bytea[]', 'text', 'millrace.state[]'])
    expect(arrayWriter(type), type).toBeUndefined()
})
