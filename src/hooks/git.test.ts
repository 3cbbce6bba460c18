import { chmod, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hookedGround, installAt } from '../../test/hooks.ts'
import { waitFor } from '../../test/processes.ts'
import { aReceiver } from '../../test/receiver.ts'
import { git, initBare } from '../../test/repositories/git.ts'
import { findRepository, tryHook, uninstall } from './index.ts'

/** What was announced, in its order; a notice may come twice. */
const revsOf = (received: readonly { body: string }[]): string[] => [
  ...new Set(received.map(({ body }) => JSON.parse(body).rev)),
]
const heard = (receiver: { received: readonly { body: string }[] }, rev: string) =>
  waitFor(() => revsOf(receiver.received).includes(rev) || undefined)

/** A bare repository and a clone of it, in a folder of this name. */
async function aBare(name = 'book.git') {
  const path = await hookedGround()
  const bare = join(path, name)
  const clone = join(path, 'clone')
  await initBare(bare)
  await git(path, 'init', '--quiet', '--initial-branch=main', clone)
  await git(clone, 'remote', 'add', 'origin', bare)
  let count = 0
  const commit = async () => {
    await git(clone, 'commit', '--quiet', '--allow-empty', '-m', `commit ${++count}`)
    return (await git(clone, 'rev-parse', 'HEAD')).trim()
  }
  return { bare, clone, commit, push: (...what: string[]) => git(clone, 'push', '--quiet', 'origin', ...what) }
}

test('A13: a push announces the new tip of the branch, and a push to another branch nothing', async () => {
  const { bare, commit, push } = await aBare(`b'o "o" $k@1.git`)
  const receiver = await aReceiver()
  await installAt({ kind: 'git', path: bare }, { url: receiver.url, branch: 'main' })
  await commit()
  const first = await commit()
  await push('main')
  await heard(receiver, first)
  await commit()
  await push('HEAD:refs/heads/side', 'HEAD:refs/tags/v1')
  const second = await commit()
  await push('main', 'HEAD:refs/heads/other')
  await heard(receiver, second)
  expect(revsOf(receiver.received)).toEqual([first, second])
  const folder = join(bare, 'millrace', 'Book')
  await waitFor(async () => (await readdir(join(folder, 'spool'))).length === 0 || undefined)
})

test('a branch whose name has a slash and an apostrophe is told from others', async () => {
  const { bare, commit, push } = await aBare()
  const receiver = await aReceiver()
  await installAt({ kind: 'git', path: bare }, { url: receiver.url, branch: "release/it's" })
  const tip = await commit()
  await push('main', "HEAD:refs/heads/release/it's")
  expect(revsOf(await receiver.count(1))).toEqual([tip])
})

test('what else is in a hook gets its input, and its answer still decides what the pusher sees', async () => {
  const { bare, commit, push } = await aBare()
  const file = join(bare, 'hooks', 'post-receive')
  await writeFile(file, '#!/usr/bin/env bash\nset -euo pipefail\ncat >mine\necho "hello from mine"\nexit 0\n')
  await chmod(file, 0o755)
  const receiver = await aReceiver()
  await installAt({ kind: 'git', path: bare }, { url: receiver.url })
  const tip = await commit()
  await push('main')
  expect(await readFile(join(bare, 'mine'), 'utf8')).toBe(`${'0'.repeat(40)} ${tip} refs/heads/main\n`)
  await receiver.count(1)
})

test('commits, amendments and merges in a work tree are announced, from a linked work tree too', async () => {
  const path = await hookedGround()
  const work = join(path, 'work tree')
  await git(path, 'init', '--quiet', '--initial-branch=main', work)
  const receiver = await aReceiver()
  await installAt({ kind: 'git', path: work }, { url: receiver.url })
  const tips: string[] = []
  const say = async (...args: string[]) => {
    await git(work, ...args)
    const tip = (await git(work, 'rev-parse', 'refs/heads/main')).trim()
    tips.push(tip)
    await heard(receiver, tip)
  }
  await say('commit', '--quiet', '--allow-empty', '-m', 'one')
  await say('commit', '--quiet', '--allow-empty', '--amend', '-m', 'two')
  await git(work, 'branch', 'side')
  await git(work, 'worktree', 'add', '--quiet', join(path, 'linked'), 'side')
  await git(join(path, 'linked'), 'commit', '--quiet', '--allow-empty', '-m', 'aside')
  await say('merge', '--quiet', '--ff-only', 'side')
  expect(revsOf(receiver.received)).toEqual(tips)
  const found = await findRepository({ kind: 'git', path: join(path, 'linked') })
  expect(found.path).toBe(join(work, '.git'))
})

test('a copy of a repository announces nothing', async () => {
  const { bare, clone, commit, push } = await aBare()
  const receiver = await aReceiver()
  await installAt({ kind: 'git', path: bare }, { url: receiver.url })
  await cp(bare, `${bare}-copy`, { recursive: true })
  await commit()
  await git(clone, 'push', '--quiet', `${bare}-copy`, 'main')
  const tip = await commit()
  await push('main')
  expect(revsOf(await receiver.count(1))).toEqual([tip])
  expect(await readdir(join(`${bare}-copy`, 'millrace', 'Book', 'spool'))).toEqual([])
})

test('a repository that takes its hooks from elsewhere is refused', async () => {
  const { bare } = await aBare()
  await git(bare, 'config', 'core.hooksPath', '/etc/shared-hooks')
  await expect(findRepository({ kind: 'git', path: bare })).rejects.toMatchObject({
    code: 'hook_refused',
    message: expect.stringContaining('/etc/shared-hooks'),
  })
})

test('trying a hook announces the tip, and uninstalling leaves nothing', async () => {
  const { bare, commit, push } = await aBare()
  const receiver = await aReceiver((response) => response.writeHead(200).end())
  const before = await readdir(bare)
  const { repository, folder } = await installAt({ kind: 'git', path: bare }, { url: receiver.url })
  expect(await tryHook(repository)).toMatchObject([{ announced: null, status: 200 }])
  const tip = await commit()
  await push('main')
  await receiver.count(2)
  await waitFor(async () => (await readdir(join(folder, 'spool'))).length === 0 || undefined)
  expect(await tryHook(repository)).toMatchObject([{ announced: tip, status: 200, waiting: 0 }])
  await uninstall(repository)
  expect((await readdir(bare)).sort()).toEqual(before.sort())
  expect(await readdir(join(bare, 'hooks'))).not.toContain('post-receive')
})
