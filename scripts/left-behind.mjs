// What the tests leave in the checkout: nothing.
import { spawnSync } from 'node:child_process'
import { root } from './bootstrap.mjs'

/** Files that git does not know, ignored ones included. A checkout without git has none to compare. */
export function lookAtCheckout() {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain', '--ignored', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) return new Set()
  return new Set(stdout.split('\0').filter((line) => line.startsWith('??') || line.startsWith('!!')))
}

/** The paths that were not there `before`. @param {Set<string>} before */
export function findLeftBehind(before) {
  return [...lookAtCheckout()].filter((line) => !before.has(line)).map((line) => line.slice(3))
}
