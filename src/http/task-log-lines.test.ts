import { expect, test } from 'vitest'
import { useTaskServer } from '../../test/task-server.ts'
import { createOutputWriter } from '../storage/index.ts'

const server = useTaskServer()

/** A task that runs, with a writer of its output. */
async function aPrinting() {
  const running = await server.runOne()
  const [attempt] = await server.millrace.attempts(running.task)
  const { pool } = server.database
  const writer = createOutputWriter({ pool, task: running.task, attempt: attempt?.epoch ?? 0 })
  return { ...running, writer }
}

test('the log of a task is read by lines while it grows, until it is complete', async () => {
  const { task, end, writer } = await aPrinting()
  await writer.write('stdout', Buffer.from('one\n'))
  await writer.write('stderr', Buffer.from('error: two\n'))
  await writer.write('stdout', Buffer.from('thr'))
  await writer.flush()
  const first = await server.ask('GET', `/v1/tasks/${task}/log/lines?limit=2`)
  expect(first.json).toMatchObject({
    attempt: 1,
    total_lines: 3,
    total_bytes: 18,
    is_complete: false,
    next_line: 3,
    first_error_line: 2,
    items: [
      { number: 1, start: 0, length: 3, stream: 'stdout', text: 'one', is_open: false, is_cut: false },
      { number: 2, start: 4, stream: 'stderr', text: 'error: two' },
    ],
  })
  await writer.write('stdout', Buffer.from('ee\n'))
  await writer.close()
  await end()
  const last = await server.ask('GET', `/v1/tasks/${task}/log/lines?from_line=-1&stream=stdout`)
  expect(last.json).toMatchObject({
    is_complete: true,
    total_lines: 2,
    next_line: null,
    first_error_line: null,
    items: [{ number: 2, text: 'three', start: 4 }],
  })
})

test('the log of a task is searched on the server', async () => {
  const { task, end, writer } = await aPrinting()
  await writer.write('stdout', Buffer.from('alpha\nbeta 12\nBETA 7\n'))
  await writer.close()
  const found = await server.ask('GET', `/v1/tasks/${task}/log/search?q=beta&case=1`)
  expect(found.json).toMatchObject({
    items: [{ number: 2, start: 6, text: 'beta 12', ranges: [[0, 4]] }],
    next_line: null,
    total_lines: 3,
    cut_lines: 0,
  })
  const page = await server.ask('GET', `/v1/tasks/${task}/log/search?q=${encodeURIComponent('\\d+$')}&regex=1&limit=1`)
  expect(page.json).toMatchObject({ items: [{ number: 2 }], next_line: 3 })
  const refused = await server.ask('GET', `/v1/tasks/${task}/log/search?q=(&regex=1`)
  expect([refused.status, refused.json.code]).toEqual([400, 'invalid_pattern'])
  await end()
})

test('a task that never ran has no lines', async () => {
  const task = await server.add()
  const lines = await server.ask('GET', `/v1/tasks/${task}/log/lines`)
  expect(lines.json).toMatchObject({ attempt: 0, items: [], total_lines: 0, next_line: null, is_complete: false })
  const found = await server.ask('GET', `/v1/tasks/${task}/log/search?q=x`)
  expect(found.json).toMatchObject({ attempt: 0, items: [], next_line: null })
})
