import { expect, test } from 'vitest'
import { checkBranch, locate } from './location.ts'

test.each([
  ['svn', 'file:///srv/my repo@2/100%', 'file:///srv/my%20repo%402/100%25'],
  ['svn', 'file:///srv/my%20repo/', 'file:///srv/my%20repo'],
  ['svn', 'file://localhost/srv/x', 'file:///srv/x'],
  ['svn', 'https://alice@host.example:8443/svn/Grüße', 'https://alice@host.example:8443/svn/Gr%C3%BC%C3%9Fe'],
  ['svn', 'svn://[::1]:3690/x', 'svn://[::1]:3690/x'],
  ['git', '/srv/my repo@{x}.git', '/srv/my repo@{x}.git'],
  ['git', 'file:///srv/my%20repo.git/', '/srv/my repo.git'],
  ['git', 'https://host/x.git', 'https://host/x.git'],
] as const)('%s takes %s', (type, given, url) => {
  expect(locate(type, given).url).toBe(url)
})

test.each([
  ['svn', '--config-dir=/tmp'],
  ['svn', '-r1'],
  ['svn', '/srv/svn'],
  ['svn', 'svn+ssh://host/x'],
  ['svn', 'svn+x://host/x'],
  ['svn', 'svn://-oProxyCommand=x/y'],
  ['svn', 'http:///x'],
  ['svn', 'file://host/x'],
  ['svn', 'file:///'],
  ['svn', 'https://alice:secret@host/x'],
  ['svn', 'file:///x\n--help'],
  ['git', '--upload-pack=touch /tmp/x'],
  ['git', 'ext::sh -c x'],
  ['git', 'ext://sh'],
  ['git', 'fd::17'],
  ['git', 'relative/path'],
  ['git', 'ssh://host/x'],
  ['git', 'ssh://-oProxyCommand=x/y'],
  ['git', 'git@host:x.git'],
  ['git', 'https://alice:secret@host/x'],
] as const)('%s refuses %s', (type, given) => {
  expect(() => locate(type, given)).toThrowError(expect.objectContaining({ code: 'invalid_repository' }))
})

test('a refusal does not repeat a password', () => {
  expect(() => locate('svn', 'https://alice:secret@host/x')).not.toThrowError(/secret/)
  expect(() => locate('git', 'alice://bob:secret@')).not.toThrowError(/secret/)
})

test('programs like ssh are reached only when they are allowed by name, and nothing else then', () => {
  expect(locate('svn', 'svn+ssh://alice@host/x', ['svn+ssh']).url).toBe('svn+ssh://alice@host/x')
  expect(locate('git', 'ssh://git@host/x', ['ssh']).url).toBe('ssh://git@host/x')
  expect(() => locate('git', 'https://host/x', ['ssh'])).toThrowError(/not allowed/)
  expect(() => locate('svn', 'svn+anything://host/x', ['svn+anything'])).toThrowError(/not one of svn/)
  expect(() => locate('git', '/srv/x', ['https'])).toThrowError(/not allowed/)
})

test('only what git takes for the name of a branch is one', () => {
  for (const name of ['main', 'release/1.0', 'a@b', 'Grüße', 'x-y_z']) expect(checkBranch(name)).toBe(name)
  const bad = [
    '',
    '-x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    '/a',
    'a/',
    'a.lock',
    'a/.b',
    '@',
    'a@{1}',
    'a\nb',
    'a//b',
    '*',
  ]
  for (const name of bad) expect(() => checkBranch(name), name).toThrowError(/branch/)
})
