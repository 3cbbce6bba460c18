import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Ground } from '../../test/repositories/ground.ts'
import { marked, opened, paths, put, text, write } from '../../test/repositories/kit.ts'
import { collect, type Repository } from './index.ts'

export function readingTests(ground: () => Ground): void {
  test('an empty repository is at revision 0, which holds nothing', async () => {
    const repository = await opened(await ground().create())
    const nothing = await repository.youngest()
    expect(nothing.number).toBe(0)
    expect(await collect(repository.log())).toEqual([])
    expect(await collect(repository.list('', nothing))).toEqual([])
    expect(await repository.stat('a', nothing)).toBeUndefined()
    await expect(repository.revision(1)).rejects.toMatchObject({ code: 'revision_not_found' })
  })

  test('revisions count from 1 and tell who did what, when and why', async () => {
    const plain = await ground().create()
    const before = Date.now() - 5_000
    await plain.commit((folder) => write(join(folder, 'a')), 'first\n\nwith a body: ü', 'alice')
    await plain.commit(async (folder) => {
      await write(join(folder, 'a'), 'changed\n')
      await write(join(folder, 'b'))
    }, 'second')
    await plain.commit((folder) => rm(join(folder, 'a')), 'third')
    const repository = await opened(plain)
    const log = await collect(repository.log())
    expect(log.map(({ number, message }) => [number, message])).toEqual([
      [1, 'first\n\nwith a body: ü'],
      [2, 'second'],
      [3, 'third'],
    ])
    expect(log[0]?.author).toBe('alice')
    expect(log[0]?.date?.getTime()).toBeGreaterThan(before)
    const file = { kind: 'file' }
    expect(log.map(({ changes }) => changes)).toEqual([
      [{ path: 'a', action: 'A', ...file }],
      [
        { path: 'a', action: 'M', ...file },
        { path: 'b', action: 'A', ...file },
      ],
      [{ path: 'a', action: 'D', ...file }],
    ])
    expect(await repository.youngest()).toEqual({ number: 3, id: log[2]?.id })
    expect(await repository.revision(2)).toEqual({ number: 2, id: log[1]?.id })
    await expect(repository.revision(4)).rejects.toMatchObject({ code: 'revision_not_found' })
  })

  test('a log goes on from where it was, as far as it is asked to', async () => {
    const plain = await ground().create()
    for (const name of ['a', 'b', 'c', 'd']) await plain.commit((folder) => write(join(folder, name)), name)
    const repository = await opened(plain)
    const [first, second, third, fourth] = await collect(repository.log())
    if (!first || !second || !third || !fourth) throw new Error('revisions are missing')
    const numbers = async (range: Parameters<Repository['log']>[0]) =>
      (await collect(repository.log(range))).map(({ number }) => number)
    expect(await numbers({ after: first })).toEqual([2, 3, 4])
    expect(await numbers({ after: first, to: third })).toEqual([2, 3])
    expect(await numbers({ limit: 2 })).toEqual([1, 2])
    expect(await numbers({ after: second, limit: 1 })).toEqual([3])
    expect(await numbers({ after: fourth })).toEqual([])
    expect(await numbers({ after: third, to: second })).toEqual([])
    const [bare] = await collect(repository.log({ limit: 1, withChanges: false }))
    expect(bare).toMatchObject({ number: 1, message: 'a', changes: [] })
    await plain.commit((folder) => write(join(folder, 'e')), 'e')
    expect(await numbers({ after: fourth })).toEqual([5])
  })

  test('a revision with more changes than are wanted says that some were left out', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (let i = 0; i < 5; i++) await write(join(folder, `f${i}`))
    }, 'many')
    const [entry] = await collect((await opened(plain)).log({ maxChanges: 3 }))
    expect(entry?.changes).toHaveLength(3)
    expect(entry?.isCut).toBe(true)
  })

  test('a folder is listed with kinds and sizes, with all below it on request', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      await write(join(folder, 'top'), '12345')
      await write(join(folder, 'deep/er/file'), '1')
    }, 'files')
    const repository = await opened(plain)
    const revision = await repository.youngest()
    expect(await paths(repository.list('', revision))).toEqual(['deep', 'top'])
    expect(await paths(repository.list('deep', revision))).toEqual(['deep/er'])
    const all = await collect(repository.list('', revision, { recursive: true }))
    expect(all.find(({ path }) => path === 'top')).toMatchObject({ kind: 'file', size: 5 })
    expect(all.map(({ path, kind }) => `${path} ${kind}`).sort()).toEqual([
      'deep folder',
      'deep/er folder',
      'deep/er/file file',
      'top file',
    ])
    expect(await repository.stat('deep/er', revision)).toMatchObject({ path: 'deep/er', kind: 'folder' })
    expect(await repository.stat('top', revision)).toMatchObject({ path: 'top', kind: 'file', size: 5 })
    expect(await repository.stat('', revision)).toMatchObject({ path: '', kind: 'folder' })
  })

  test('a folder that is missing, or is a file, holds nothing', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      await write(join(folder, '_workflows'))
      await write(join(folder, 'same/same'))
    }, 'files')
    const repository = await opened(plain)
    const revision = await repository.youngest()
    expect(await collect(repository.list('nowhere', revision))).toEqual([])
    expect(await collect(repository.list('nowhere/below', revision, { recursive: true }))).toEqual([])
    expect(await collect(repository.list('_workflows', revision))).toEqual([])
    expect(await paths(repository.list('same', revision))).toEqual(['same/same'])
    expect(await repository.stat('nowhere', revision)).toBeUndefined()
  })

  test('a file is read byte by byte, as it was at the revision', async () => {
    const plain = await ground().create()
    const every = Uint8Array.from({ length: 256 }, (_, i) => i)
    await plain.commit((folder) => write(join(folder, 'bytes'), every), 'bytes')
    await plain.commit((folder) => write(join(folder, 'bytes'), 'other'), 'other')
    await plain.commit((folder) => rm(join(folder, 'bytes')), 'gone')
    const repository = await opened(plain)
    const [first, second, third] = await collect(repository.log())
    if (!first || !second || !third) throw new Error('revisions are missing')
    expect(new Uint8Array(await repository.read('bytes', first))).toEqual(every)
    expect(await text(repository, 'bytes', second)).toBe('other')
    await expect(repository.read('bytes', third)).rejects.toMatchObject({ code: 'path_not_found', isRetryable: false })
    await expect(repository.read('bytes/below', first)).rejects.toMatchObject({ code: 'path_not_found' })
    await expect(repository.read('bytes', first, { maxBytes: 255 })).rejects.toMatchObject({ code: 'file_too_large' })
    expect(await repository.read('bytes', first, { maxBytes: 256 })).toHaveLength(256)
    await expect(repository.read('', first)).rejects.toMatchObject({ code: 'path_not_found' })
    await expect(repository.read('../bytes', first)).rejects.toMatchObject({ code: 'path_not_found' })
  })

  test('the difference of two revisions names each path once', async () => {
    const plain = await ground().create()
    await plain.commit(async (folder) => {
      for (const name of ['changed', 'gone', 'kept', 'back']) await write(join(folder, name))
    }, 'one')
    await plain.commit(async (folder) => {
      await write(join(folder, 'changed'), 'new\n')
      await write(join(folder, 'back'), 'new\n')
      await rm(join(folder, 'gone'))
    }, 'two')
    await plain.commit(async (folder) => {
      await write(join(folder, 'back'))
      await write(join(folder, 'more/file'))
    }, 'three')
    const repository = await opened(plain)
    const [from, , to] = await collect(repository.log())
    if (!from || !to) throw new Error('revisions are missing')
    const changes = (await collect(repository.diff(from, to))).filter(({ kind }) => kind === 'file')
    expect(changes.map(({ path, action }) => `${action} ${path}`).sort()).toEqual([
      'A more/file',
      'D gone',
      'M changed',
    ])
    expect(await collect(repository.diff(from, from))).toEqual([])
    const nothing = await repository.revision(0)
    expect(await paths(repository.diff(nothing, from))).toEqual(['back', 'changed', 'gone', 'kept'])
  })

  test('opened at a folder, a repository is that folder, with the revisions of all', async () => {
    const plain = await ground().create()
    await plain.commit((folder) => write(join(folder, 'part/a')), 'inside')
    await plain.commit((folder) => write(join(folder, 'other/b')), 'outside')
    await plain.commit((folder) => write(join(folder, 'part/a'), 'new\n'), 'inside again')
    const repository = await opened(plain, { path: 'part' })
    const log = await collect(repository.log())
    expect(log.map(({ number }) => number)).toEqual([1, 2, 3])
    const files = log.map(({ changes }) => changes.filter(({ kind }) => kind === 'file').map(({ path }) => path))
    expect(files).toEqual([['a'], [], ['a']])
    const youngest = await repository.youngest()
    expect(await paths(repository.list('', youngest, { recursive: true }))).toEqual(['a'])
    expect(await text(repository, 'a', youngest)).toBe('new\n')
    const made = await repository.commitChanges({ ...marked('part'), changes: [put('c')] })
    expect(await paths(repository.list('', made))).toEqual(['a', 'c'])
    await using workspace = await repository.workspace({ revision: made })
    expect(await readFile(join(workspace.path, 'c'), 'utf8')).toBe('x\n')
    await write(join(workspace.path, 'd'))
    const again = await repository.commit(workspace, marked('again'))
    if (!again) throw new Error('nothing was committed')
    expect(await paths(repository.list('', again))).toEqual(['a', 'c', 'd'])
    const whole = await opened(plain)
    expect(await paths(whole.list('part', again))).toEqual(['part/a', 'part/c', 'part/d'])
  })

  test('a repository that is not there is unreachable, which may pass', async () => {
    const plain = await ground().create()
    const url = `${plain.options.url}-is-not-there`
    const repository = await opened(plain, { url })
    await expect(repository.youngest()).rejects.toMatchObject({ code: 'repository_unreachable', isRetryable: true })
  })

  test('a call that is aborted ends with the reason', async () => {
    const plain = await ground().create()
    const abort = new AbortController()
    const repository = (await opened(plain)).withSignal(abort.signal)
    await repository.youngest()
    const reason = new Error('enough')
    const waiting = repository.commitChanges({ ...marked('m'), changes: [put('a')] })
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(repository.youngest()).rejects.toBe(reason)
  })
}

// Each could mean something to one of the programs, to a URL or to XML.
const ODD_NAMES = [
  'a@b',
  '@',
  'x@12',
  'sp ace',
  'Grüße 你好',
  '100%',
  '%41',
  '-dash',
  '--help',
  "it's",
  'a"b',
  '#?&=+;,',
]
const ODDER_NAMES = [
  '<&>',
  '~tilde',
  'back\\slash',
  '[glob]*',
  '$HOME',
  ':colon',
  '(paren)',
  '!bang',
  'e\u0301',
  'x.yaml@',
]

export function nameTests(ground: () => Ground): void {
  test('names may hold what means something elsewhere', async () => {
    const plain = await ground().create()
    const names = [...ODD_NAMES, ...ODDER_NAMES].sort()
    await plain.commit(async (folder) => {
      for (const name of names) await write(join(folder, 'by hand', name), name)
    }, 'odd')
    const repository = await opened(plain)
    const base = await repository.youngest()
    expect(await paths(repository.list('by hand', base))).toEqual(names.map((name) => `by hand/${name}`))
    const [entry] = await collect(repository.log())
    const files = (entry?.changes ?? []).filter(({ kind }) => kind === 'file').map(({ path }) => path)
    expect(files.sort()).toEqual(names.map((name) => `by hand/${name}`))
    const changes = names.map((name) => put(`@ made %/${name}`, name))
    const made = await repository.commitChanges({ ...marked('odd'), changes })
    for (const name of names) expect(await text(repository, `@ made %/${name}`, made)).toBe(name)
    const different = (await collect(repository.diff(base, made))).filter(({ kind }) => kind === 'file')
    expect(different.map(({ path }) => path).sort()).toEqual(names.map((name) => `@ made %/${name}`))
    await using workspace = await repository.workspace({ revision: made })
    for (const name of names) await rm(join(workspace.path, 'by hand', name))
    for (const name of names) await write(join(workspace.path, '@ made %', name), 'changed')
    for (const name of names) await write(join(workspace.path, 'in a workspace@', name), name)
    const last = await repository.commit(workspace, marked('names'))
    if (!last) throw new Error('nothing was committed')
    expect(await paths(repository.list('in a workspace@', last))).toEqual(
      names.map((name) => `in a workspace@/${name}`),
    )
    for (const name of names.slice(0, 4)) expect(await text(repository, `@ made %/${name}`, last)).toBe('changed')
    const deletes = names.map((name) => ({ type: 'delete', path: `@ made %/${name}` }) as const)
    const end = await repository.commitChanges({ ...marked('gone'), changes: deletes })
    expect(await collect(repository.list('@ made %', end))).toEqual([])
  })
}
