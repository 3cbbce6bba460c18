import { expect, test } from 'vitest'
import { logText } from './log.ts'

const at = new Date(2026, 0, 2, 3, 4, 5).getTime()
const line = (entry: object) => `${JSON.stringify({ level: 30, time: at, pid: 1, hostname: 'host', ...entry })}\n`

test('a line of the log has time, level, message and fields', () => {
  const fields = { reqId: 'ab-1', applied: Array.from({ length: 30 }, (_, n) => `00${n}`), said: 'two words' }
  expect(logText(line({ ...fields, msg: 'the schema is up to date' }), false)).toMatch(
    /^03:04:05 INFO {2}the schema is up to date reqId=ab-1 applied=\["000",[^ ]+… said="two words"\n$/,
  )
})

test('an error has its message behind that of the line, and its stack from the level error on', () => {
  const err = {
    type: 'Error',
    message: 'it broke',
    stack: 'Error: it broke\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)',
  }
  expect(logText(line({ level: 40, err, msg: 'goes on' }), false)).toBe('03:04:05 WARN  goes on: it broke\n')
  expect(logText(line({ level: 50, err, msg: 'it broke' }), false)).toBe(
    '03:04:05 ERROR it broke\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)\n',
  )
})

test('what a caller sent cannot move the cursor or begin a line', () => {
  const text = logText(line({ msg: 'a\u001b[2J\nb', name: '\u009b2J\u202e' }), false)
  expect(text).toBe('03:04:05 INFO  a\ufffd[2J b name="\ufffd2J\ufffd"\n')
})

test('colours are there where they are wanted', () => {
  expect(logText(line({ level: 50, msg: 'x' }), true)).toContain('\u001b[31mERROR\u001b[39m x')
})
