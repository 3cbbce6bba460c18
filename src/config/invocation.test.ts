import { expect, test } from 'vitest'
import { readInvocation } from './invocation.ts'

test('printed commands begin as the program was called', () => {
  expect(readInvocation({ npm_command: 'exec' })).toBe('npx millrace')
  expect(readInvocation({ npm_command: 'run-script' })).toBe('millrace')
  expect(readInvocation({})).toBe('millrace')
})
