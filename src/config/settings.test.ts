import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { settingsTable } from './settings.ts'

test('the table in the operations guide is the table of settings', async () => {
  const guide = await readFile(new URL('../../docs/guides/operations.md', import.meta.url), 'utf8')
  // The guide's is padded by the formatter.
  const bare = (table: string) => table.replace(/ *\| */g, '|').replace(/-+/g, '-')
  expect(bare(guide)).toContain(bare(settingsTable()))
})
