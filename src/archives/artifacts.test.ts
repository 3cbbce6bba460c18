import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorOf, expectSuccess, useArchiveTasks } from '../../test/archive-tasks.ts'
import { waitFor } from '../../test/processes.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { scratch } from '../../test/scratch.ts'
import { type AnyWorker, connect } from '../engine/index.ts'
import { type Artifact, findArtifact, listArtifacts, readArtifact, sweepFiles } from '../storage/index.ts'
import { findFiles } from './find-files.ts'
import { createArchiveTaskWorker } from './perform-task.ts'

const LIMITS = { count: 100, bytes: 1 << 20 }

describe('files that fit', () => {
  /** A folder with files, folders (ending with a slash) and links (`name -> target`). */
  async function aFolder(...entries: string[]) {
    const { path } = await scratch()
    for (const entry of entries) {
      const [name = '', target] = entry.split(' -> ')
      await mkdir(join(path, name, '..'), { recursive: true })
      if (target !== undefined) await symlink(target, join(path, name))
      else if (name.endsWith('/')) await mkdir(join(path, name), { recursive: true })
      else await writeFile(join(path, name), name)
    }
    return path
  }

  test('are found in all folders that a pattern names, in order', async () => {
    const path = await aFolder(
      'out/b.pdf',
      'out/a.pdf',
      'out/deep/c.pdf',
      'out/notes',
      'other/a.pdf',
      'top.pdf',
      '.hidden.pdf',
    )
    const find = async (...patterns: string[]) => (await findFiles(path, patterns, LIMITS)).paths
    expect(await find('out/*.pdf')).toEqual(['out/a.pdf', 'out/b.pdf'])
    expect(await find('out/**')).toEqual(['out/a.pdf', 'out/b.pdf', 'out/deep/c.pdf', 'out/notes'])
    expect(await find('**/*.pdf', 'out/a.pdf')).toHaveLength(6)
    expect(await find('{out,other}/a.*')).toEqual(['other/a.pdf', 'out/a.pdf'])
  })

  test('never lie outside, whatever pattern or link says so', async () => {
    const outside = await aFolder('secret', 'folder/secret')
    const path = await aFolder(
      'out/fine',
      `out/file -> ${outside}/secret`,
      `out/folder -> ${outside}/folder`,
      'out/up -> ..',
      'out/gone -> nowhere',
      '.git/config',
      '.svn/wc.db',
    )
    const found = await findFiles(path, ['**'], LIMITS)
    expect(found.paths).toEqual(['out/fine'])
    expect([...found.notes].sort()).toEqual(
      ['file', 'folder', 'gone', 'up'].map((name) => `out/${name} is a link and is not kept`),
    )
    for (const pattern of [
      '/etc/passwd',
      '../secret',
      'out/../../secret',
      './out/*',
      'out/..',
      '!out/*',
      '',
      'a//b',
      'out/[',
    ]) {
      await expect(findFiles(path, [pattern], LIMITS), pattern).rejects.toMatchObject({ code: 'artifacts_refused' })
    }
    expect((await findFiles(path, ['out/folder/*', 'out/up/**'], LIMITS)).paths).toEqual([])
  })

  test('are limited in number and size, with a message that says which', async () => {
    const path = await aFolder('a', 'b', 'c')
    await expect(findFiles(path, ['*'], { ...LIMITS, count: 2 })).rejects.toThrow('more than 2 files fit *')
    await expect(findFiles(path, ['*'], { ...LIMITS, bytes: 2 })).rejects.toThrow('hold more than 2 bytes')
    const long = await aFolder(
      `${'x'.repeat(200)}/${'y'.repeat(200)}/${'z'.repeat(200)}/${'x'.repeat(200)}/${'y'.repeat(200)}/z`,
    )
    await expect(findFiles(long, ['**'], LIMITS)).rejects.toThrow('is too long')
    expect((await findFiles(path, ['*', 'd/*'], LIMITS)).notes).toEqual(['no file fits d/*'])
  })
})

describe('what a task leaves behind', () => {
  const tasks = useArchiveTasks(svnFiles)
  const list = (...ids: string[]) => listArtifacts(tasks.engine.pool, { tasks: ids, limit: 1000 })
  const bytesOf = async (artifact: Artifact | undefined, range = {}) => {
    const parts: Buffer[] = []
    for await (const part of readArtifact(tasks.engine.pool, artifact as Artifact, range)) parts.push(part)
    return Buffer.concat(parts)
  }
  const pieces = async (id: string) =>
    (await tasks.engine.pool.query('select attempt from millrace.artifact_piece where task = $1', [id])).rows.length

  test('A15: is kept with its digest, byte by byte, and read from any place', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, {
      run: `mkdir -p out; head -c 3000000 /dev/urandom > out/large; : > out/empty; echo '#!/bin/sh' > out/tool; chmod +x out/tool; sha256sum out/large`,
      artifacts: ['out/*'],
    })
    expectSuccess(task)
    expect(task.output).toEqual({ exit_code: 0, artifacts: 3 })
    const all = await list(task.id)
    expect(all.map(({ path, size, isExecutable }) => [path, size, isExecutable])).toEqual([
      ['out/empty', 0, false],
      ['out/large', 3_000_000, false],
      ['out/tool', 10, true],
    ])
    expect(task.log.split(' ')[0]).toBe(all[1]?.digest.toString('hex'))
    const whole = await bytesOf(all[1])
    expect(whole.length).toBe(3_000_000)
    expect(
      (await bytesOf(all[1], { start: 1_048_570, end: 2_097_160 })).equals(whole.subarray(1_048_570, 2_097_160)),
    ).toBe(true)
    expect(await findArtifact(tasks.engine.pool, task.id, 'out/none')).toBeUndefined()
  })

  test('is nothing when it fails, and what does not fit is said in the log', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const failed = await tasks.run(archive, { run: 'echo x > out; exit 1', artifacts: ['out'] })
    expect(await list(failed.id)).toEqual([])
    const none = await tasks.run(archive, { run: 'ln -s /etc/passwd out', artifacts: ['out', 'other/*'] })
    expectSuccess(none)
    expect(none.log).toBe('[millrace: out is a link and is not kept]\n[millrace: no file fits other/*]\n')
    expect(await list(none.id)).toEqual([])
  })

  test('is refused beyond the limits, and the task fails saying so', async () => {
    const archive = await tasks.archive()
    await tasks.start({ artifactLimits: { count: 2, bytes: 100 } })
    const options = { maxAttempts: 3 }
    const many = await tasks.run(archive, { run: 'touch 1 2 3', artifacts: ['?'], options })
    expect(errorOf(many).message).toBe('the artifacts are not kept: more than 2 files fit ?')
    const large = await tasks.run(archive, { run: 'truncate -s 1T out', artifacts: ['out'], options })
    expect(errorOf(large).message).toContain('hold more than 100 bytes, with out')
    expect(await tasks.engine.millrace.attempts(large.id)).toHaveLength(1)
    expect(await pieces(large.id)).toBe(0)
  })

  test('is not taken from where a moved workspace leads', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, {
      run: 'here=$(pwd); cd ..; mv tree away; ln -s /etc tree',
      artifacts: ['passwd'],
    })
    expect(errorOf(task).message).toContain('the workspace was moved away')
    expect(await list(task.id)).toEqual([])
    // The next one is not led astray either.
    expectSuccess(await tasks.run(archive, { run: 'test "$(cat a)" = first' }))
  })

  test('A15: is there for those that wait for it at the same revision, below its name', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const build = await tasks.add(archive, {
      run: 'mkdir out; echo built > out/x; chmod +x out/x',
      artifacts: ['out/*'],
      name: 'build',
    })
    const silent = await tasks.add(archive, { run: 'true', name: 'silent' })
    const options = { requires: [build, silent] }
    const use = await tasks.add(archive, {
      run: 'cd "$MILLRACE_ARTIFACTS"; find . -type f; cat build/out/x; test -x build/out/x',
      name: 'use',
      options,
    })
    const task = await tasks.ended(use)
    expectSuccess(task)
    expect(task.log).toBe('./build/out/x\nbuilt\n')
    // Of another revision.
    const rev = await archive.commit({ b: 'x\n' })
    const later = await tasks.run(archive, { run: 'ls "$MILLRACE_ARTIFACTS"', name: 'use', rev, options })
    expect(later.log).toBe('')
  })

  test('is replaced by what it leaves when it is performed again', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const flag = `${tasks.scratch()}/again`
    const id = await tasks.add(archive, {
      run: `if [ -e ${flag} ]; then echo two > two; else echo one > one; touch ${flag}; fi`,
      artifacts: ['one', 'two'],
    })
    await tasks.ended(id)
    expect((await list(id)).map(({ path }) => path)).toEqual(['one'])
    await tasks.engine.millrace.rerun(id)
    await waitFor(async () => ((await tasks.engine.millrace.attempts(id)).length === 2 ? true : undefined))
    await tasks.ended(id)
    expect((await list(id)).map(({ path }) => path)).toEqual(['two'])
    expect(await pieces(id)).toBe(1)
  })

  test('by an attempt that has lost its lease is not kept, and what is kept is that of the next', async () => {
    const archive = await tasks.archive()
    const gate = `${tasks.scratch()}/lost`
    const { dispatcher } = await tasks.start()
    const id = await tasks.add(archive, {
      run: `echo "$$" > who; [ -e ${gate} ] || { touch ${gate}; while :; do sleep 0.05; done; }; echo ok > who`,
      artifacts: ['who'],
    })
    await waitFor(async () => ((await tasks.engine.millrace.task(id)).state === 'running' ? true : undefined))
    await waitFor(() => (existsSync(gate) ? true : undefined))
    await tasks.engine.takeAway(id, dispatcher.id)
    const task = await tasks.ended(id)
    expectSuccess(task)
    const [artifact] = await list(id)
    expect((await bytesOf(artifact)).toString()).toBe('ok\n')
    expect(await pieces(id)).toBe(1)
    const attempts = await tasks.engine.millrace.attempts(id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lease_lost', 'succeeded'])
  })

  test('that is stored when the lease is lost before the outcome is written is not kept', async () => {
    const archive = await tasks.archive()
    const millrace = await connect({ databaseUrl: tasks.engine.databaseUrl })
    const worker = createArchiveTaskWorker(tasks.workshop({ millrace }))
    const seen: number[] = []
    const late: AnyWorker = {
      ...worker,
      async work(context) {
        const result = await worker.work(context)
        seen.push(await pieces(context.task.id))
        if (seen.length === 1) await tasks.engine.takeAway(context.task.id, dispatcher.id)
        return result
      },
    }
    const dispatcher = millrace.dispatch([late], { stopSeconds: 0 })
    const id = await tasks.add(archive, { run: 'date +%N > out', artifacts: ['out'] })
    const task = await tasks.ended(id)
    await dispatcher.stop()
    await millrace.close()
    expectSuccess(task)
    expect(seen).toEqual([1, 2])
    expect(await pieces(id)).toBe(1)
    const [artifact] = await list(id)
    const attempts = await tasks.engine.millrace.attempts(id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lease_lost', 'succeeded'])
    expect(artifact?.attempt).toBe(attempts[1]?.epoch)
  })

  test('by a worker that died is swept, and nothing that is kept or under way', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const kept = await tasks.run(archive, { run: 'echo x > out', artifacts: ['out'] })
    const over = await tasks.run(archive, { run: 'true' })
    const waiting = await tasks.add(archive, { run: 'true', options: { heldBy: 'the test' } })
    const { pool } = tasks.engine
    for (const [task, attempt] of [
      [over.id, 1],
      [waiting, 0],
      [kept.id, 7],
    ] as const) {
      await pool.query('insert into millrace.artifact_upload (task, attempt) values ($1, $2)', [task, attempt])
      await pool.query(`insert into millrace.artifact_piece values ($1, $2, 0, 0, 'x')`, [task, attempt])
    }
    expect(await sweepFiles(pool)).toBe(2)
    expect([await pieces(over.id), await pieces(waiting), await pieces(kept.id)]).toEqual([0, 1, 1])
    expect((await bytesOf((await list(kept.id))[0])).toString()).toBe('x\n')
    await tasks.engine.millrace.cancel(waiting)
    expect(await sweepFiles(pool)).toBe(1)
    expect(await pieces(waiting)).toBe(0)
  })

  test('goes with the task when that is pruned', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, { run: 'echo x > out', artifacts: ['out'] })
    expect(await pieces(task.id)).toBe(1)
    await tasks.engine.millrace.prune({ olderThanSeconds: 0, scope: `archive:${archive.name}` })
    expect(await list(task.id)).toEqual([])
    expect(await pieces(task.id)).toBe(0)
  })
})
