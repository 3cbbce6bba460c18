import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findLeftBehind, lookAtCheckout } from '../scripts/left-behind.mjs'
import { run } from './packages.ts'
import { scratch } from './scratch.ts'

test('what is new in the checkout, ignored or changed is left behind; what was there before is not', async () => {
  const { path } = await scratch()
  const write = (name: string, text = '') => writeFileSync(join(path, name), text)
  write('kept')
  write('.gitignore', 'ignored*\n')
  run(path, ['git', 'init', '-q'])
  run(path, ['git', 'add', '-A'])
  run(path, ['git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'all'])
  write('before')
  const before = lookAtCheckout(path)
  expect(findLeftBehind(before, path)).toEqual([])
  write('oom')
  write('ignored')
  write('kept', 'changed')
  mkdirSync(join(path, 'folder'))
  write(join('folder', 'file'))
  expect(new Set(findLeftBehind(before, path))).toEqual(new Set(['folder/', 'ignored', 'kept', 'oom']))
})
