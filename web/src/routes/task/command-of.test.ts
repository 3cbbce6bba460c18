import { expect, test } from 'vitest'
import { commandOf } from './command-of.ts'

test('the command of a node is shown as one would type it', () => {
  expect(commandOf({ command: 'sh', args: ['-c', "echo 'it is'"] })).toBe(`sh -c 'echo '\\''it is'\\'''`)
  expect(commandOf({ command: 'make', args: ['-j4', 'all'] })).toBe('make -j4 all')
  expect(commandOf({ command: 'true' })).toBe('true')
})

test('of a script the first line that says something is shown, and whether there is more', () => {
  expect(commandOf({ run: { type: 'command', command: ['make', 'a b'] } })).toBe("make 'a b'")
  expect(commandOf({ run: { type: 'script', script: 'set -e\n# all\n\n make book\n', shell: ['sh'] } })).toBe(
    'make book',
  )
  expect(commandOf({ run: { type: 'script', script: 'one\ntwo\n', shell: ['sh'] } })).toBe('one …')
})

test('what has no command shows none', () => {
  for (const given of [
    undefined,
    null,
    5,
    'sh',
    [],
    {},
    { command: 5 },
    { command: 'a', args: [1] },
    { run: { type: 'uses', uses: 'index' } },
  ])
    expect(commandOf(given)).toBeUndefined()
})
