// What the tests leave in the checkout: nothing.
import { spawnSync } from 'node:child_process'
import { root } from './bootstrap.mjs'

/** Files that git does not know, ignored ones included, and those that differ. A checkout without git has none to compare. */
export function lookAtCheckout(folder = root) {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--ignored', '-z'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) return new Set()
  return new Set(stdout.split('\0').filter(Boolean))
}

/** The paths that are new or changed since `before`. @param {Set<string>} before */
export function findLeftBehind(before, folder = root) {
  return [...lookAtCheckout(folder)].filter((line) => !before.has(line)).map((line) => line.slice(3))
}
