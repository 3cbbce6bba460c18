import { expect, test } from 'vitest'
import { createLogParser } from './container-log.ts'

function parse(...chunks: (string | Buffer)[]): [string, string][] {
  const found: [string, string][] = []
  const read = createLogParser((stream, bytes) => found.push([stream, bytes.toString('latin1')]))
  for (const chunk of chunks) read(Buffer.from(chunk as string))
  return found
}

const TIME = '2026-11-16T01:28:36.035330318+00:00'

test('whole lines get their end back, parts of lines have none', () => {
  expect(parse(`${TIME} stdout F a\n${TIME} stderr P b\n${TIME} stderr F c d\n${TIME} stdout F \n`)).toEqual([
    ['stdout', 'a\n'],
    ['stderr', 'b'],
    ['stderr', 'c d\n'],
    ['stdout', '\n'],
  ])
})

test('it does not matter where reading stops', () => {
  const whole = `${TIME} stdout F one\n${TIME} stderr P two\n`
  for (let at = 0; at <= whole.length; at += 1)
    expect(parse(whole.slice(0, at), whole.slice(at))).toEqual([
      ['stdout', 'one\n'],
      ['stderr', 'two'],
    ])
  expect(parse(`${TIME} stdout F unfinished`)).toEqual([])
})

test('bytes that are no text arrive as they are', () => {
  const bytes = Buffer.concat([Buffer.from(`${TIME} stdout P `), Buffer.from([255, 0, 13, 195]), Buffer.from('\n')])
  expect(parse(bytes)).toEqual([['stdout', '\xff\0\r\xc3']])
})
