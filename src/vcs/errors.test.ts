import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  AuthenticationFailed,
  BranchNotFound,
  CommitRefused,
  FileTooLarge,
  HistoryRewritten,
  InvalidChange,
  InvalidRepository,
  OutOfDate,
  PathNotFound,
  RepositoryError,
  RepositoryUnreachable,
  RevisionNotFound,
  ToolFailed,
  ToolMissing,
  ToolTimedOut,
} from './index.ts'

const errors = [
  new InvalidRepository('x'),
  new RepositoryUnreachable('x'),
  new AuthenticationFailed('x'),
  new BranchNotFound('x'),
  new RevisionNotFound('x'),
  new PathNotFound('x'),
  new FileTooLarge('x'),
  new OutOfDate('x'),
  new CommitRefused('x'),
  new InvalidChange('x'),
  new HistoryRewritten('a', 'b', 'x'),
  new ToolMissing('x'),
  new ToolTimedOut('x'),
  new ToolFailed('svn', 1, 'svn: E000001: what is wrong\n'),
]

test('the guide tells every error, and whether it may be tried again', () => {
  const page = readFileSync(new URL('../../docs/guides/repositories.md', import.meta.url), 'utf8')
  const told = [...page.matchAll(/^\| `(\w+)` +\| (yes|no) +\|/gm)].map(([, code, again]) => [code, again === 'yes'])
  expect(errors.map(({ code, isRetryable }) => [code, isRetryable])).toEqual(told)
  for (const error of errors) expect(error).toBeInstanceOf(RepositoryError)
})

test('an error of a program is quoted without its name', () => {
  expect(errors.at(-1)?.message).toBe('svn ended with 1: E000001: what is wrong')
})
