import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Ground } from '../../test/repositories/ground.ts'
import { bytes, marked, opened, paths, put, text, write } from '../../test/repositories/kit.ts'
import { scratch } from '../../test/scratch.ts'
import { collect, type Repository } from './index.ts'

export function changesTests(ground: () => Ground): void {
  test('changes without a workspace become one revision', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['old', 'tree/x', 'tree/y', 'becomes', 'program']) await write(join(folder, name), name)
    }, 'one')
    const repository = await opened(plain)
    const { path } = await scratch()
    await write(join(path, 'a file'), 'from a file')
    const made = await repository.commitChanges({
      ...marked('CS1'),
      base: await repository.youngest(),
      changes: [
        put('old', 'new'),
        { type: 'delete', path: 'tree' },
        { type: 'delete', path: 'tree/x' },
        put('tree/z', 'another tree'),
        { type: 'put', path: 'new/deep/file', content: { file: join(path, 'a file') } },
        { type: 'delete', path: 'becomes' },
        put('becomes/folder'),
        { type: 'put', path: 'program', content: bytes('#!'), isExecutable: true },
      ],
    })
    expect(made.number).toBe(2)
    const files = (await collect(repository.list('', made, { recursive: true }))).filter(({ kind }) => kind === 'file')
    expect(files.map((file) => file.path).sort()).toEqual([
      'becomes/folder',
      'new/deep/file',
      'old',
      'program',
      'tree/z',
    ])
    expect(await text(repository, 'new/deep/file', made)).toBe('from a file')
    const executable = { svn: { 'svn:executable': '*' }, git: { mode: '100755' } }
    expect(await repository.properties('program', made)).toEqual(executable[repository.type])
    const kept = await repository.commitChanges({ ...marked('CS2'), changes: [put('program', '#!2')] })
    expect(await repository.properties('program', kept)).toEqual(executable[repository.type])
    const plainFile = [{ type: 'put', path: 'program', content: bytes('3'), isExecutable: false }] as const
    const last = await repository.commitChanges({ ...marked('CS3'), changes: plainFile })
    expect(await repository.properties('program', last)).not.toEqual(executable[repository.type])
    await expect(repository.properties('nowhere', last)).rejects.toMatchObject({ code: 'path_not_found' })
  })

  test('the first revision may be made without a workspace', async () => {
    const repository = await opened(await ground().create())
    const made = await repository.commitChanges({ ...marked('first'), changes: [put('a/b')] })
    expect(made.number).toBe(1)
    expect(await repository.identity()).toMatch(/^[0-9a-f-]{36,40}$/)
    expect(await paths(repository.list('', made, { recursive: true }))).toEqual(['a', 'a/b'])
  })

  test('changes to what has changed since their base are out of date', async () => {
    const plain = await ground().create()
    const names = ['edited', 'removed', 'tree/x', 'other']
    await plain.commit(async (folder) => {
      for (const name of names) await write(join(folder, name))
    }, 'one')
    const repository = await opened(plain)
    const base = await repository.youngest()
    await plain.commit(async (folder) => {
      await write(join(folder, 'edited'), 'theirs')
      await rm(join(folder, 'removed'))
      await write(join(folder, 'tree/x'), 'theirs')
      await write(join(folder, 'appeared'))
    }, 'two')
    const remove = (path: string) => ({ type: 'delete', path }) as const
    const outdated = [
      put('edited'),
      remove('edited'),
      put('removed'),
      remove('removed'),
      put('appeared'),
      remove('tree'),
    ]
    for (const change of outdated) {
      const late = repository.commitChanges({ ...marked('late'), base, changes: [change, put('other', 'ours')] })
      await expect(late, `${change.type} ${change.path}`).rejects.toMatchObject({ code: 'out_of_date' })
    }
    expect((await repository.youngest()).number).toBe(2)
    const made = await repository.commitChanges({ ...marked('fine'), base, changes: [put('other', 'ours')] })
    expect(made.number).toBe(3)
    expect(await text(repository, 'edited', made)).toBe('theirs')
  })

  test('changes that make no sense are refused, and nothing is committed', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      await write(join(folder, 'file'))
      await write(join(folder, 'folder/in'))
    }, 'one')
    const repository = await opened(plain)
    const attempt = (...changes: Parameters<Repository['commitChanges']>[0]['changes']) =>
      repository.commitChanges({ ...marked('bad'), changes })
    const invalid = { code: 'invalid_change', isRetryable: false }
    await expect(attempt()).rejects.toMatchObject(invalid)
    await expect(attempt(put('folder'))).rejects.toMatchObject(invalid)
    await expect(attempt(put('file/below'))).rejects.toMatchObject(invalid)
    await expect(attempt({ type: 'mkdir', path: 'file' })).rejects.toMatchObject(invalid)
    await expect(attempt(put('a'), put('a'))).rejects.toMatchObject(invalid)
    await expect(attempt(put('a'), put('a/b'))).rejects.toMatchObject(invalid)
    await expect(attempt(put('.git/config'))).rejects.toMatchObject(invalid)
    await expect(attempt(put(''))).rejects.toMatchObject(invalid)
    await expect(attempt(put('a/../../b'))).rejects.toMatchObject({ code: 'path_not_found' })
    await expect(attempt({ type: 'delete', path: 'nowhere' })).rejects.toMatchObject({ code: 'path_not_found' })
    expect((await repository.youngest()).number).toBe(1)
  })

  test('many commit at once, and each becomes a revision of its own', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a')), 'one')
    const repository = await opened(plain)
    const names = ['b', 'c', 'd', 'e', 'f']
    const made = await Promise.all(
      names.map((name) => repository.commitChanges({ ...marked(name), changes: [put(name)] })),
    )
    expect(new Set(made.map(({ number }) => number))).toEqual(new Set([2, 3, 4, 5, 6]))
    expect(await paths(repository.list('', await repository.youngest()))).toEqual(['a', ...names])
  })

  test('a commit is found again by its marker', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'a')), 'no marker\n\nMillrace-Other: x')
    const repository = await opened(plain)
    const base = await repository.youngest()
    const first = await repository.commitChanges({ ...marked('CS-1'), changes: [put('a', '1')] })
    const second = await repository.commitChanges({ ...marked('CS-10'), changes: [put('a', '2')] })
    expect(await repository.findMarker('CS-1', { since: base })).toEqual(first)
    expect(await repository.findMarker('CS-10')).toEqual(second)
    expect(await repository.findMarker('CS-1', { since: first })).toBeUndefined()
    expect(await repository.findMarker('CS-2', { since: base })).toBeUndefined()
  })
}
