import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { exitCodes, exitMeanings, exitOfStatus } from '../src/cli/exit.ts'
import { problems } from '../src/http/problems.ts'
import { commandTables } from './command-tables.ts'

test('every problem that the server answers has an exit code', () => {
  const without = Object.entries(problems).filter(([, { status }]) => exitOfStatus(status) === undefined)
  expect(without).toEqual([])
})

const guide = await readFile(new URL('../docs/guides/command-line.md', import.meta.url), 'utf8')

test('the exit codes of the guide are those of the program', () => {
  const rows = [...guide.matchAll(/^\| +(\d+) +\| (.*?) *\|$/gm)].map(([, code, meaning]) => [Number(code), meaning])
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[]
  expect(rows).toEqual(names.map((name) => [exitCodes[name], exitMeanings[name]]))
})

test('the commands of the guide are those of the program', async () => {
  // The guide's tables are padded.
  const bare = (text: string) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---')
  expect(bare(guide)).toContain(bare(await commandTables()))
})
