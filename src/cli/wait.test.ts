import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { screenOf } from '../../test/screen.ts'
import { aTaskServer, type TaskServer } from '../../test/task-server.ts'

let server: TaskServer

beforeAll(async () => {
  server = await aTaskServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const run: TaskServer['commandLine'] = (...asked) => server.commandLine(...asked)

describe('wait', () => {
  test('ends with 0 when all have succeeded, and says so of each', async () => {
    const ids = [await server.add(), await server.add()]
    const waiting = run(['wait', ...ids])
    await server.perform()
    const { exitCode, stdout } = await waiting
    expect(exitCode).toBe(0)
    expect(stdout.trimEnd().split('\n').sort()).toEqual(ids.map((id) => `${id} ✓ succeeded`).sort())
  })

  test('ends with 20 when it failed, 21 when it was canceled or skipped, 22 when some did not succeed', async () => {
    const [good, broken] = [await server.add(), await server.add({ payload: 'broken' })]
    const skipped = await server.add({ requires: [broken] })
    const canceled = await server.add()
    await server.millrace.cancel(canceled)
    await server.perform()
    const codeOf = async (...ids: string[]) => (await run(['wait', ...ids])).exitCode
    expect(await codeOf(good)).toBe(0)
    expect(await codeOf(broken)).toBe(20)
    expect(await codeOf(broken, skipped)).toBe(20)
    expect(await codeOf(skipped)).toBe(21)
    expect(await codeOf(canceled)).toBe(21)
    expect(await codeOf(good, broken)).toBe(22)
  })

  test('ends with 124 when the time is over, and says what stands in the way', async () => {
    const first = await server.add()
    const id = await server.add({ requires: [first] })
    const { exitCode, stderr } = await run(['wait', id, '--timeout', '300ms'])
    expect(exitCode).toBe(124)
    expect(stderr).toMatch(new RegExp(`1 of 1 .*${id} is waiting \\(waits for .*${first}`))
    expect(stderr).toContain('to fix it: ')
  })

  test('for a state ends when the task is in it, or has been', async () => {
    const { task, end } = await server.runOne()
    expect((await run(['wait', task, '--for', 'running'])).exitCode).toBe(0)
    await end()
    expect((await run(['wait', task, '--for', 'running'])).exitCode).toBe(0)
  })

  test('for a state that can no longer come ends as the task ended', async () => {
    const id = await server.add({ payload: 'broken' })
    await server.perform()
    expect((await run(['wait', id, '--for', 'succeeded'])).exitCode).toBe(20)
  })

  test('ends with 130 when it is interrupted', async () => {
    const waiting = run(['wait', await server.add()], { terminal: { columns: 80, rows: 24 } })
    await waiting.says(/waiting for 1/)
    waiting.interrupt()
    expect((await waiting).exitCode).toBe(130)
  })

  test('as JSON tells the states', async () => {
    const id = await server.add()
    await server.perform()
    expect((await run(['wait', id, '--json'])).stdout).toBe(`[{"id":"${id}","state":"succeeded"}]\n`)
  })
})

describe('watch', () => {
  test('into a pipe prints each change as a line', async () => {
    const first = await server.add()
    const second = await server.add({ requires: [first] })
    const watching = run(['watch', second])
    await watching.says(/ · waiting/)
    await server.perform()
    const { exitCode, stdout } = await watching
    expect(exitCode).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(new RegExp(`^\\d{4}-.*Z ${second} · waiting {2}waits for`))
    expect(lines.at(-1)).toMatch(new RegExp(`^\\d{4}-.*Z ${second} ✓ succeeded`))
    expect(stdout).not.toContain('\u001b')
  })

  test('on a terminal draws in place, and leaves the last picture and the cursor', async () => {
    const first = await server.add({ key: 'needed' })
    const second = await server.add({ requires: [first] })
    const watching = run(['watch', second], { terminal: { columns: 80, rows: 24 } })
    await watching.says(/needed/)
    await server.perform()
    const { exitCode, stdout } = await watching
    expect(exitCode).toBe(0)
    expect(stdout.startsWith('\u001b[?25l\u001b[?2026h')).toBe(true)
    expect(stdout.endsWith('\u001b[?2026l\u001b[?25h')).toBe(true)
    expect(screenOf(stdout).join('\n')).toMatch(new RegExp(`^${second} ✓ succeeded {2}default`))
    expect(screenOf(stdout).join('\n')).not.toContain('needed')
  })

  test('that is interrupted gives the cursor back', async () => {
    const watching = run(['watch', await server.add()], { terminal: { columns: 80, rows: 24 } })
    await watching.says(/ready/)
    watching.interrupt()
    const { exitCode, stdout } = await watching
    expect(exitCode).toBe(130)
    expect(stdout.endsWith('\u001b[?25h')).toBe(true)
  })
})
