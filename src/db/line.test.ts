import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { database, type TestDatabase } from '../../test/database.ts'
import { waitFor } from '../../test/processes.ts'
import { Line } from './line.ts'
import { createPool } from './pool.ts'
import { prepareWhereDirect } from './prepare.ts'
import type { Question } from './statement.ts'

let db: TestDatabase
let line: Line
beforeEach(async () => {
  db = await database({ max: 1 })
  await prepareWhereDirect(db.pool)
  line = new Line(db.pool)
})
afterEach(async () => {
  line.close()
  await db[Symbol.asyncDispose]()
})

const question = (name: string, text: string): Question<unknown[]> => ({
  statement: { name, text, parameters: [], columns: [] },
  bind: (values) => values,
})
const echo = question('test.echo', `select json_build_object('pid', pg_backend_pid(), 'n', $1::int, 'none', $2::text)`)
const divide = question('test.divide', 'select to_json(1 / $1::int)')
const same = (answer: unknown) => answer
const pidOf = () => line.ask(echo, [1, null], (answer) => (answer as { pid: number }).pid)

/** Through a connection of its own, since the line has the pool's only one. */
async function aside(text: string): Promise<void> {
  await using other = beside()
  await other.pool.query(text)
}

function beside() {
  const pool = createPool({ databaseUrl: db.databaseUrl, max: 1 })
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

test('one connection answers question after question, and prepares each once', async () => {
  const pid = await pidOf()
  expect(await line.ask(echo, [2, 'a "b"'], same)).toEqual({ pid, n: 2, none: 'a "b"' })
  const prepared = question(
    'test.prepared',
    `select to_json(array(select name from pg_prepared_statements order by 1))`,
  )
  expect(await line.ask(prepared, [], same)).toEqual(['test.echo', 'test.prepared'])
})

test('opened, it asks prepared where its pool leads straight to the server', async () => {
  await using other = beside()
  const opened = new Line(other.pool)
  await opened.open()
  const prepared = question('test.opened', `select to_json(array(select name from pg_prepared_statements))`)
  expect(await opened.ask(prepared, [], same)).toEqual(['test.opened'])
  opened.close()
})

test('opened, it has the connection that its first question is asked on', async () => {
  await line.open()
  expect([db.pool.totalCount, db.pool.idleCount]).toEqual([1, 0])
  await line.open()
  expect(await pidOf()).toBeGreaterThan(0)
  expect(db.pool.totalCount).toBe(1)
})

test('closed while it is opened, it gives its connection back', async () => {
  const opened = line.open()
  line.close()
  await opened
  expect([db.pool.totalCount, db.pool.idleCount]).toEqual([1, 1])
})

test('the server keeps the memory of one question for the next', async () => {
  const pid = await pidOf()
  // What the system had to give it anew, in pages: the tenth field of what Linux tells of a process.
  const given = () => Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[7])
  const many = question('test.many', `select to_json(array(select repeat('x', 100) from generate_series(1, 2000)))`)
  const rounds = async (n: number) => {
    for (let i = 0; i < n; i += 1) await line.ask(many, [], same)
  }
  await rounds(5)
  const before = given()
  await rounds(20)
  expect(given() - before).toBeLessThan(20 * 20)
})

test('a question that the server refuses fails with its code, and the next one takes another connection', async () => {
  const pid = await pidOf()
  await expect(line.ask(divide, [0], same)).rejects.toMatchObject({ code: '22012' })
  expect(await line.ask(divide, [1], same)).toBe(1)
  expect(await pidOf()).not.toBe(pid)
})

test('an answer that was read and then not committed is none', async () => {
  await aside(`
    create table told (n int);
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'at the end'; end $$;
    create constraint trigger late after insert on told deferrable initially deferred for each row execute function refuse();
    create function tell() returns json language plpgsql as $$ begin insert into told values (1); return '7'; end $$`)
  const read: unknown[] = []
  const asked = line.ask(question('test.tell', 'select tell()'), [], (answer) => read.push(answer))
  await expect(asked).rejects.toThrow('at the end')
  expect(read).toEqual([7])
})

test('an answer that cannot be read fails the question, and nothing else', async () => {
  const asked = line.ask(echo, [1, null], () => {
    throw new Error('unreadable')
  })
  await expect(asked).rejects.toThrow('unreadable')
  expect(await pidOf()).toBeGreaterThan(0)
})

test('a connection that breaks, asked or not, is replaced', async () => {
  const first = await pidOf()
  await aside(`select pg_terminate_backend(${first})`)
  await waitFor(() => (db.pool.totalCount === 0 ? true : undefined))
  const second = await pidOf()
  expect(second).not.toBe(first)
  const asked = line.ask(question('test.sleep', 'select to_json(pg_sleep(60)::text)'), [], same)
  const isRefused = expect(asked).rejects.toMatchObject({ code: '57P01' })
  await aside(`select pg_terminate_backend(${second})`)
  await isRefused
  expect(await pidOf()).not.toBe(second)
})

test('a question that goes unanswered for too long fails, and the next one takes another connection', async () => {
  const pool = createPool({ databaseUrl: db.databaseUrl, max: 1, answerMs: 3000 })
  const patient = new Line(pool)
  await patient.open()
  const pid = () => patient.ask(echo, [1, null], (answer) => (answer as { pid: number }).pid)
  const first = await pid()
  const silent = question('test.silent', 'select to_json(pg_sleep(60)::text)')
  await expect(patient.ask(silent, [], same)).rejects.toThrow('Query read timeout')
  expect(await pid()).not.toBe(first)
  patient.close()
  // Back in the pool, the driver's own is as it was.
  const client = await pool.connect()
  expect(client).toMatchObject({ connectionParameters: { query_timeout: 3000 } })
  client.release()
  await pool.end()
})

test('closed while it asks, it is answered, and gives its connection back afterwards', async () => {
  const asked = pidOf()
  line.close()
  expect(await asked).toBeGreaterThan(0)
  expect(db.pool.idleCount).toBe(1)
})

test('where nothing may be prepared it answers the same', async () => {
  await using other = beside()
  const plain = new Line(other.pool)
  expect(await plain.ask(echo, [3, null], same)).toMatchObject({ n: 3, none: null })
  const prepared = question('', `select to_json(array(select name from pg_prepared_statements))`)
  expect(await plain.ask(prepared, [], same)).toEqual([])
  plain.close()
})
