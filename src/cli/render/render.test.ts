import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { screenOf } from '../../../test/screen.ts'
import { createFrame } from './frame.ts'
import { createStyle } from './style.ts'
import { table } from './table.ts'
import { clean, pad, prepareWidths, truncate, widthOf } from './text.ts'
import { ago, duration, parseDuration } from './time.ts'
import { tree } from './tree.ts'

const plain = createStyle(false)
const painted = createStyle(true)

describe('text', () => {
  test('that commands a terminal is made harmless, and stays one line', () => {
    expect(clean('a\u001b[31mb\u0007\u009bc\nd\te\u2028f\u202eg')).toBe('a\ufffd[31mb\ufffd\ufffdc d e f\ufffdg')
  })

  test('is as wide as it is drawn', async () => {
    await prepareWidths(['漢字', 'e\u0301', '👩‍💻'])
    expect([
      widthOf('漢字'),
      widthOf('e\u0301'),
      widthOf('👩‍💻'),
      widthOf('✓ ok'),
      widthOf(painted.red('red')),
    ]).toEqual([4, 1, 2, 4, 3])
    expect(pad('漢', 4)).toBe('漢  ')
  })

  test('is cut between characters, with its colours ended', async () => {
    await prepareWidths(['漢'])
    expect(truncate('abcdef', 4)).toBe('abc…')
    expect(truncate('漢字漢字', 4)).toBe('漢…')
    expect(truncate('abc', 3)).toBe('abc')
    expect(truncate(`${painted.red('abcdef')}g`, 4)).toBe(`${painted.red('abc…')}`)
  })
})

describe('a table', () => {
  const columns = [
    { title: 'id', of: (row: { id: string; name: string }) => row.id, align: 'right' as const },
    { title: 'name', of: (row: { id: string; name: string }) => row.name, least: 4 },
  ]

  test('is as wide as its content asks for', async () => {
    const rows = [
      { id: '7', name: 'short' },
      { id: '118', name: 'somewhat longer' },
    ]
    expect(await table(rows, columns, { style: plain })).toEqual([' id  name', '  7  short', '118  somewhat longer'])
  })

  test('on a narrow terminal cuts the columns that may be cut, and no further', async () => {
    const rows = [{ id: '118', name: 'somewhat longer' }]
    expect(await table(rows, columns, { style: plain, width: 12 })).toEqual([' id  name', '118  somewh…'])
    expect(await table(rows, columns, { style: plain, width: 3 })).toEqual([' id  name', '118  som…'])
  })

  test('cuts the least important column first, a name later, and a key or a number never', async () => {
    const row = { kind: 'k'.repeat(30), name: 'n'.repeat(30), key: 'k'.repeat(20), many: '1234567' }
    const wide = [
      { title: 'many', of: () => row.many, align: 'right' as const },
      { title: 'key', of: () => row.key, importance: 'key' as const },
      { title: 'name', of: () => row.name, importance: 'name' as const },
      { title: 'kind', of: () => row.kind },
    ]
    const at = async (width: number) =>
      (await table([row], wide, { style: plain, width }))[1]?.split(/ +/).map((one) => one.length)
    expect(await at(80)).toEqual([7, 20, 30, 17])
    expect(await at(70)).toEqual([7, 20, 25, 12])
    expect(await at(50)).toEqual([7, 20, 8, 9])
    expect(await at(10)).toEqual([7, 20, 4, 4])
  })

  test('of very many rows is made', async () => {
    const rows = Array.from({ length: 200_000 }, (_, at) => ({ id: String(at), name: 'x' }))
    expect(await table(rows, columns, { style: plain })).toHaveLength(200_001)
  })
})

test('a tree is drawn with its branches', () => {
  const leaf = (label: string) => ({ label, below: [] })
  expect(tree([{ label: 'a', below: [leaf('b'), leaf('c')] }, leaf('d')])).toEqual([
    '├─ a',
    '│  ├─ b',
    '│  └─ c',
    '└─ d',
  ])
})

describe('a frame', () => {
  function aTerminal(columns: number, rows: number) {
    const stream = new PassThrough()
    let sent = ''
    stream.on('data', (chunk) => (sent += chunk))
    const sink = Object.assign(stream, { columns, rows, isTTY: true })
    return {
      sink,
      sent: () => sent,
      clear: () => (sent = ''),
      screen: () => screenOf(sent).filter((line) => line !== ''),
    }
  }

  test('shows the last lines, whatever was there before', () => {
    const { sink, screen } = aTerminal(40, 10)
    const frame = createFrame(sink)
    frame.draw(['one', 'two', 'three'])
    frame.draw(['one', 'a longer line'])
    frame.draw(['1', '2', '3', '4'])
    frame.draw(['short'])
    frame.end()
    expect(screen()).toEqual(['short'])
  })

  test('writes only what has changed, and nothing when nothing has', () => {
    const { sink, sent, clear } = aTerminal(40, 10)
    const frame = createFrame(sink)
    frame.draw(['stays', 'changes'])
    clear()
    frame.draw(['stays', 'changed'])
    expect(sent()).toContain('changed')
    expect(sent()).not.toContain('stays')
    clear()
    frame.draw(['stays', 'changed'])
    expect(sent()).toBe('')
  })

  test('higher or wider than the screen is cut, so that it can be drawn over', () => {
    const { sink, screen } = aTerminal(10, 4)
    const frame = createFrame(sink)
    const lines = Array.from({ length: 9 }, (_, at) => `line ${at} of many`)
    frame.draw(lines)
    expect(screen()).toEqual(['line 0 of…', 'line 1 of…', '… 7 more …'])
    frame.draw(['end'])
    expect(screen()).toEqual(['end'])
  })

  test('draws everything anew when the width has changed', () => {
    const { sink, sent, clear } = aTerminal(40, 10)
    const frame = createFrame(sink)
    frame.draw(['a line of some length', 'b'])
    clear()
    Object.assign(sink, { columns: 11 })
    frame.draw(['a line of some length', 'b'])
    // The first line takes two rows now.
    expect(sent()).toContain('\u001b[3A')
    expect(sent()).toContain('a line of …')
  })
})

describe('time', () => {
  test('durations are told in their two largest units', () => {
    const ms = [0, 850, 9_940, 59_999, 60_000, 252_000, 3_600_000, 90_000_000]
    expect(ms.map(duration)).toEqual(['0 ms', '850 ms', '9.9 s', '59 s', '1 min', '4 min 12 s', '1 h', '1 d 1 h'])
  })

  test('moments are told from now', () => {
    const now = Date.parse('2026-11-16T12:00:00Z')
    const times = ['2026-11-16T11:59:59.500Z', '2026-11-16T11:57:00Z', '2026-11-15T12:00:00Z', '2026-11-01T12:00:00Z']
    expect(times.map((at) => ago(at, now))).toEqual(['just now', '3 min ago', '24 h ago', '15 d ago'])
    expect(ago('2026-11-16T12:10:00Z', now)).toBe('in 10 min')
    expect(ago(null, now)).toBe('-')
  })

  test('durations are read as people write them', () => {
    expect(['90s', '10m', '2h', '1d', '5', '250ms', '1.5h'].map(parseDuration)).toEqual([
      90_000, 600_000, 7_200_000, 86_400_000, 5_000, 250, 5_400_000,
    ])
    for (const text of ['', 'x', '-1s', '1w', '100d', 's', '1 h']) expect(parseDuration(text), text).toBeUndefined()
  })
})
