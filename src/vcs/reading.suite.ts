import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folder, type Ground, type Plain } from '../../test/repositories/ground.ts'
import { marked, opened, paths, put, text, write } from '../../test/repositories/kit.ts'
import { collect, openRepository, type Repository, type Revision } from './index.ts'

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, i) => i)

/** Six revisions for tests that only read. */
async function makeHistory(plain: Plain): Promise<void> {
  await plain.commit((folder) => write(join(folder, 'a')), 'first\n\nwith a body: ü', 'alice')
  await plain.commit(async (folder) => {
    await write(join(folder, 'a'), 'changed\n')
    await write(join(folder, 'b'))
  }, 'second')
  await plain.commit((folder) => rm(join(folder, 'a')), 'third')
  await plain.commit(async (folder) => {
    await write(join(folder, 'bytes'), EVERY_BYTE)
    await write(join(folder, 'deep/er/file'), '12345')
    await write(join(folder, '_workflows'))
    await write(join(folder, 'same/same'))
    for (const name of ['changed', 'gone', 'kept', 'back']) await write(join(folder, name))
  }, 'fourth')
  await plain.commit(async (folder) => {
    await write(join(folder, 'bytes'), 'other')
    for (const name of ['changed', 'back']) await write(join(folder, name), 'new\n')
    await rm(join(folder, 'gone'))
  }, 'fifth')
  await plain.commit(async (folder) => {
    await rm(join(folder, 'bytes'))
    await write(join(folder, 'back'))
    await write(join(folder, 'more/file'))
  }, 'sixth')
}

export function readingTests(ground: () => Ground): void {
  describe('a history', () => {
    let repository: Repository
    let place: Awaited<ReturnType<typeof folder>>
    let revisions: readonly Revision[]
    const at = (number: number) => {
      const revision = revisions[number]
      if (!revision) throw new Error(`there is no revision ${number}`)
      return revision
    }
    beforeAll(async () => {
      place = await folder()
      const plain = await ground().create()
      await makeHistory(plain)
      repository = openRepository({ ...plain.options, cacheDir: place.path })
      revisions = [await repository.revision(0), ...(await collect(repository.log()))]
    })
    afterAll(() => place[Symbol.asyncDispose]())

    test('counts from 1 and tells who did what, when and why', async () => {
      const log = await collect(repository.log())
      const messages = ['first\n\nwith a body: ü', 'second', 'third', 'fourth', 'fifth', 'sixth']
      expect(log.map(({ number, message }) => [number, message])).toEqual(messages.map((text, i) => [i + 1, text]))
      expect(log[0]?.author).toBe('alice')
      expect(Math.abs((log[0]?.date?.getTime() ?? 0) - Date.now())).toBeLessThan(600_000)
      const changes = log
        .slice(0, 3)
        .map(({ changes }) => changes.map(({ path, action, kind }) => [action, path, kind]))
      expect(changes).toEqual([
        [['A', 'a', 'file']],
        [
          ['M', 'a', 'file'],
          ['A', 'b', 'file'],
        ],
        [['D', 'a', 'file']],
      ])
      expect(await repository.youngest()).toEqual({ number: 6, id: log[5]?.id })
      expect(await repository.revision(2)).toEqual({ number: 2, id: log[1]?.id })
      await expect(repository.revision(7)).rejects.toMatchObject({ code: 'revision_not_found' })
    })

    test('is read on from where one was, as far as one wants', async () => {
      const numbers = async (range: Parameters<Repository['log']>[0]) =>
        (await collect(repository.log(range))).map(({ number }) => number)
      const [second, third] = [at(2), at(3)]
      expect(await numbers({ after: second })).toEqual([3, 4, 5, 6])
      expect(await numbers({ after: second, to: at(4) })).toEqual([3, 4])
      expect(await numbers({ limit: 2 })).toEqual([1, 2])
      expect(await numbers({ after: second, limit: 1 })).toEqual([3])
      expect(await numbers({ after: at(6) })).toEqual([])
      expect(await numbers({ after: third, to: second })).toEqual([])
      const [bare] = await collect(repository.log({ limit: 1, withChanges: false }))
      expect(bare).toMatchObject({ number: 1, changes: [] })
    })

    test('says that changes were left out when a revision has more than are wanted', async () => {
      const [entry] = await collect(repository.log({ after: at(3), limit: 1, maxChanges: 3 }))
      expect(entry?.changes).toHaveLength(3)
      expect(entry?.isCut).toBe(true)
    })

    test('lists a folder with kinds and sizes, with all below it on request', async () => {
      const revision = at(4)
      expect(await paths(repository.list('deep', revision))).toEqual(['deep/er'])
      const all = await collect(repository.list('deep', revision, { recursive: true }))
      expect(all.find(({ kind }) => kind === 'file')).toMatchObject({ path: 'deep/er/file', size: 5 })
      expect(all.map(({ path, kind }) => `${path} ${kind}`).sort()).toEqual(['deep/er folder', 'deep/er/file file'])
      expect(await paths(repository.list('', at(3)))).toEqual(['b'])
      expect(await repository.stat('deep/er', revision)).toMatchObject({ path: 'deep/er', kind: 'folder' })
      expect(await repository.stat('bytes', revision)).toMatchObject({ path: 'bytes', kind: 'file', size: 256 })
      expect(await repository.stat('', revision)).toMatchObject({ path: '', kind: 'folder' })
      expect(await repository.stat('nowhere', revision)).toBeUndefined()
    })

    test('holds nothing in a folder that is missing or is a file', async () => {
      const revision = at(4)
      expect(await collect(repository.list('nowhere', revision))).toEqual([])
      expect(await collect(repository.list('nowhere/below', revision, { recursive: true }))).toEqual([])
      expect(await collect(repository.list('_workflows', revision))).toEqual([])
      expect(await paths(repository.list('same', revision))).toEqual(['same/same'])
    })

    test('gives a file byte by byte, as it was at the revision', async () => {
      const revision = at(4)
      expect(new Uint8Array(await repository.read('bytes', revision))).toEqual(EVERY_BYTE)
      expect(await text(repository, 'bytes', at(5))).toBe('other')
      const missing = { code: 'path_not_found', isRetryable: false }
      await expect(repository.read('bytes', at(6))).rejects.toMatchObject(missing)
      for (const path of ['bytes/below', 'deep', '', '../bytes', 'deep/./er/file']) {
        await expect(repository.read(path, revision), path).rejects.toMatchObject(missing)
      }
      await expect(repository.read('bytes', revision, { maxBytes: 255 })).rejects.toMatchObject({
        code: 'file_too_large',
      })
      expect(await repository.read('bytes', revision, { maxBytes: 256 })).toHaveLength(256)
    })

    test('names each path once in the difference of two revisions', async () => {
      const changes = (await collect(repository.diff(at(4), at(6)))).filter(({ kind }) => kind === 'file')
      const lines = changes.map(({ path, action }) => `${action} ${path}`).sort()
      expect(lines).toEqual(['A more/file', 'D bytes', 'D gone', 'M changed'])
      expect(await collect(repository.diff(at(4), at(4)))).toEqual([])
      expect(await paths(repository.diff(at(0), at(1)))).toEqual(['a'])
      expect(await paths(repository.diff(at(3), at(0)))).toEqual(['b'])
    })
  })

  test('an empty repository is at revision 0, which holds nothing', async () => {
    const plain = await ground().create()
    const repository = await opened(plain)
    const nothing = await repository.youngest()
    expect(nothing.number).toBe(0)
    expect(await collect(repository.log())).toEqual([])
    expect(await collect(repository.list('', nothing))).toEqual([])
    expect(await repository.stat('a', nothing)).toBeUndefined()
    await expect(repository.revision(1)).rejects.toMatchObject({ code: 'revision_not_found' })
    await plain.commit((folder) => write(join(folder, 'a')), 'one')
    expect((await collect(repository.log({ after: nothing }))).map(({ number }) => number)).toEqual([1])
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
    const nothing = await repository.revision(0)
    await expect(repository.workspace({ revision: nothing })).rejects.toMatchObject({ code: 'path_not_found' })
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

  test('a repository may itself have such a name, and the folder that is opened too', async () => {
    const plain = await ground().create('re po@1 100% %41 ü')
    await plain.commit((folder) => write(join(folder, 'pa rt@2 %42/a'), 'one'), 'one')
    const repository = await opened(plain, { path: 'pa rt@2 %42' })
    const base = await repository.youngest()
    expect(await text(repository, 'a', base)).toBe('one')
    const made = await repository.commitChanges({ ...marked('m'), base, changes: [put('b', 'two')] })
    for (const name of ['c', 'd']) {
      await using workspace = await repository.workspace({ revision: await repository.youngest() })
      await write(join(workspace.path, name))
      expect(await repository.commit(workspace, marked(name))).toBeDefined()
    }
    const log = await collect(repository.log({ after: made }))
    expect(log.map(({ changes }) => changes.map(({ path }) => path))).toEqual([['c'], ['d']])
  })
}
