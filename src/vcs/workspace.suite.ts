import { readFile, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Ground, say } from '../../test/repositories/ground.ts'
import { marked, opened, put, text, write } from '../../test/repositories/kit.ts'
import { collect } from './index.ts'

export function workspaceTests(ground: () => Ground): void {
  test('a workspace holds the tree of its revision', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a'), 'old'), 'one')
    await plain.commit(async (folder) => {
      await write(join(folder, 'a'), 'new')
      await write(join(folder, 'deep/b'))
    }, 'two')
    const repository = await opened(plain)
    const [first, second] = await collect(repository.log())
    if (!first || !second) throw new Error('revisions are missing')
    await using old = await repository.workspace({ revision: first })
    await using young = await repository.workspace({ revision: second })
    expect(old.slot).not.toBe(young.slot)
    expect(await readFile(join(old.path, 'a'), 'utf8')).toBe('old')
    expect(await readFile(join(young.path, 'a'), 'utf8')).toBe('new')
    expect(await stat(join(old.path, 'deep')).catch(() => 'missing')).toBe('missing')
  })

  test('the next user of a workspace finds it clean', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['a', 'b', 'deep/c']) await write(join(folder, name), name)
    }, 'one')
    await plain.commit((folder) => write(join(folder, 'a'), 'changed'), 'two')
    const repository = await opened(plain)
    const [first, second] = await collect(repository.log())
    if (!first || !second) throw new Error('revisions are missing')
    const before = await repository.workspace({ revision: second })
    await write(join(before.path, 'a'), 'dirt')
    await rm(join(before.path, 'b'))
    await rm(join(before.path, 'deep'), { recursive: true })
    await write(join(before.path, 'deep'), 'a file now')
    await write(join(before.path, 'new/junk'))
    await symlink('/etc', join(before.path, 'link'))
    await before[Symbol.asyncDispose]()
    for (const revision of [first, second]) {
      await using after = await repository.workspace({ revision })
      expect(after.slot).toBe(before.slot)
      const left = (await say('find', [after.path, '-not', '-path', '*/.svn*', '-not', '-path', '*/.git*']))
        .split('\n')
        .map((line) => line.slice(after.path.length + 1))
        .filter((line) => line !== '')
      expect(left.sort()).toEqual(['a', 'b', 'deep', 'deep/c'])
      expect(await readFile(join(after.path, 'a'), 'utf8')).toBe(revision === first ? 'a' : 'changed')
      expect(await readFile(join(after.path, 'b'), 'utf8')).toBe('b')
    }
  })

  test('a workspace that cannot be mended is made anew', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a'), 'good'), 'one')
    const repository = await opened(plain)
    const revision = await repository.youngest()
    const before = await repository.workspace({ revision })
    await write(join(before.slot, 'index'), 'no index')
    await rm(join(before.slot, 'base', '.svn'), { recursive: true, force: true })
    await before[Symbol.asyncDispose]()
    await using after = await repository.workspace({ revision })
    expect(after.slot).not.toBe(before.slot)
    expect(await readFile(join(after.path, 'a'), 'utf8')).toBe('good')
    await expect(stat(before.slot)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('no more workspaces are kept than wanted, those of the same key first', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a')), 'one')
    const repository = await opened(plain, { keepWorkspaces: 2 })
    const revision = await repository.youngest()
    const three = [
      await repository.workspace({ revision, key: 'x' }),
      await repository.workspace({ revision, key: 'y' }),
      await repository.workspace({ revision, key: 'z' }),
    ]
    for (const workspace of three) await workspace[Symbol.asyncDispose]()
    const exist = await Promise.all(
      three.map(({ slot }) =>
        stat(slot).then(
          () => true,
          () => false,
        ),
      ),
    )
    expect(exist).toEqual([false, true, true])
    await using y = await repository.workspace({ revision, key: 'y' })
    expect(y.slot).toBe(three[1]?.slot)
  })
}

export function commitTests(ground: () => Ground): void {
  test('a commit holds all that is different in the workspace, under its marker', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['changed', 'gone', 'kept', 'was-file', 'was-folder/in']) await write(join(folder, name), name)
    }, 'one')
    const repository = await opened(plain)
    const base = await repository.youngest()
    await using workspace = await repository.workspace({ revision: base })
    const at = (name: string) => join(workspace.path, name)
    await write(at('changed'), 'new')
    await rm(at('gone'))
    await rm(at('was-file'))
    await write(at('was-file/in'), 'a folder now')
    await rm(at('was-folder'), { recursive: true })
    await write(at('was-folder'), 'a file now')
    await write(at('new/deep/file'), 'new')
    const made = await repository.commit(workspace, { message: 'all of it', marker: 'task 7', author: 'bob' })
    if (!made) throw new Error('nothing was committed')
    expect(made.number).toBe(2)
    expect(await repository.youngest()).toEqual(made)
    const files = (await collect(repository.list('', made, { recursive: true }))).filter(({ kind }) => kind === 'file')
    expect(files.map(({ path }) => path).sort()).toEqual(
      ['changed', 'kept', 'new/deep/file', 'was-file/in', 'was-folder'].sort(),
    )
    expect(await text(repository, 'was-folder', made)).toBe('a file now')
    const [entry] = await collect(repository.log({ after: base }))
    expect(entry?.marks['cause']).toBe('task 7')
    expect(entry?.message).toMatch(/^all of it/)
    expect([entry?.author, entry?.marks['author']]).toContain('bob')
    expect(await repository.commit(workspace, marked('nothing'))).toBeUndefined()
    await write(at('changed'), 'newer')
    expect((await repository.commit(workspace, marked('more')))?.number).toBe(3)
  })

  test('a commit of what others changed meanwhile is out of date and changes nothing', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['a', 'b', 'c']) await write(join(folder, name))
    }, 'one')
    const repository = await opened(plain)
    await using workspace = await repository.workspace({ revision: await repository.youngest() })
    await plain.commit((folder) => write(join(folder, 'a'), 'theirs'), 'two')
    await write(join(workspace.path, 'a'), 'ours')
    const late = repository.commit(workspace, marked('late'))
    await expect(late).rejects.toMatchObject({ code: 'out_of_date', isRetryable: true })
    expect((await repository.youngest()).number).toBe(2)
  })

  test('a commit of other files than those that changed meanwhile succeeds', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['a', 'b']) await write(join(folder, name))
    }, 'one')
    const repository = await opened(plain)
    await using workspace = await repository.workspace({ revision: await repository.youngest() })
    await plain.commit((folder) => write(join(folder, 'a'), 'theirs'), 'two')
    await write(join(workspace.path, 'b'), 'ours')
    const made = await repository.commit(workspace, marked('other'))
    if (!made) throw new Error('nothing was committed')
    expect(made.number).toBe(3)
    expect(await text(repository, 'a', made)).toBe('theirs')
    expect(await text(repository, 'b', made)).toBe('ours')
  })

  test('a message may look like anything', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a')), 'one')
    const repository = await opened(plain)
    const messages = ['a', '', '-m\r\n# no comment \u0007', 'Subject\n\nSigned-off-by: x']
    const marker = (n: number) => `m=${n}: "ü"`
    for (const [n, message] of messages.entries()) {
      await repository.commitChanges({ message, marker: marker(n), changes: [put('a', `${n}`)] })
    }
    const log = await collect(repository.log())
    for (const [n, message] of messages.entries()) {
      const entry = log[n + 1]
      expect(entry?.marks['cause']).toBe(marker(n))
      expect(entry?.message.startsWith(message.replace('\r', '').replace('\u0007', '').trimEnd())).toBe(true)
    }
    const bad = repository.commitChanges({ message: 'x', marker: 'two\nlines', changes: [put('a')] })
    await expect(bad).rejects.toMatchObject({ code: 'invalid_change' })
  })
}
