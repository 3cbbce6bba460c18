import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorOf, expectSuccess, TOKEN, useArchiveTasks } from '../../test/archive-tasks.ts'
import { waitFor } from '../../test/processes.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { followOutput } from '../storage/index.ts'
import { RepositoryUnreachable } from '../vcs/index.ts'
import { NoRepository } from './errors.ts'

const SECRET = 'hunter2-is-the-password'
const KEY = '-----BEGIN KEY-----\nabcdefghijklmnop\nqrstuvwxyz012345\n-----END KEY-----\n'
const tasks = useArchiveTasks(svnFiles)
beforeAll(async () => {
  for (const [name, value] of [
    ['PASSWORD', SECRET],
    ['SIGNING_KEY', KEY],
  ] as const) {
    await tasks.secrets().set({ archive: '', name, value, actor: 'test' })
  }
})

describe('the command of a task', () => {
  test('finds in its environment what it is about', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const rev = await archive.commit({ b: 'x\n' })
    const task = await tasks.run(archive, {
      run: 'env | sort; cat "$MILLRACE_CHANGED_PATHS"; ls "$MILLRACE_ARTIFACTS"; echo "$TMPDIR" | grep task-',
      rev,
      previous: { number: 1, id: '1' },
      name: 'look',
      env: { OWN: 'mine' },
      trigger: { type: 'manual', run: '7', by: 'ada', inputs: { edition: 'final', 'with-index': 'yes' } },
    })
    expectSuccess(task)
    const env = Object.fromEntries(task.log.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))
    expect(env).toMatchObject({
      MILLRACE_ARCHIVE: archive.name,
      MILLRACE_REVISION: '2',
      MILLRACE_PREVIOUS_REVISION: '1',
      MILLRACE_TASK: 'look',
      MILLRACE_TASK_ID: task.id,
      MILLRACE_TRIGGER: 'manual',
      MILLRACE_INPUT_EDITION: 'final',
      MILLRACE_INPUT_WITH_INDEX: 'yes',
      MILLRACE_URL: 'http://127.0.0.1:1',
      MILLRACE_TOKEN: '***',
      OWN: 'mine',
    })
    expect(Object.keys(env)).not.toContain('VITEST')
  })

  test('A15: gets its secrets, and nobody else sees them', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const seen = `${tasks.scratch()}/seen`
    const id = await tasks.add(archive, {
      run: `ps -eww -o args > ${seen}; tr '\\0' ' ' < /proc/$$/cmdline; echo; echo "$PASSWORD"; echo "$SIGNING_KEY"; printf %s "$PASSWORD" | wc -c; echo "$PASSWORD" >&2; exit 3`,
      secrets: ['PASSWORD', 'SIGNING_KEY'],
    })
    const task = await tasks.ended(id)
    expect(task.state).toBe('failed')
    expect(task.log).toMatch(/^sh -e \S+script \n/)
    expect(task.log).toContain(`***\n***\n\n${SECRET.length}\n`)
    const history = await tasks.engine.millrace.history(id)
    const { rows } = await tasks.engine.pool.query('select o::text as told from millrace.outbox as o')
    const attempts = await tasks.engine.millrace.attempts(id)
    const processes = await readFile(seen, 'utf8')
    expect(processes).toContain('/script')
    for (const told of [task.log, processes, JSON.stringify([task, history, attempts, rows])]) {
      for (const secret of [SECRET, 'abcdefghijklmnop', TOKEN]) expect(told).not.toContain(secret)
    }
    expect(rows.length).toBeGreaterThan(0)
  })

  test('does not begin when a secret is missing, and the error says how to set it', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, {
      run: 'echo begun',
      secrets: ['PASSWORD', 'NOBODYS'],
      options: { maxAttempts: 5 },
    })
    expect(task.state).toBe('failed')
    expect(task.log).toBe('')
    expect(errorOf(task).message).toContain(
      `secret NOBODYS is not set, neither for archive ${archive.name} nor for all`,
    )
    expect(errorOf(task).message).toContain('millrace secret set NOBODYS')
    expect(await tasks.engine.millrace.attempts(task.id)).toHaveLength(1)
  })

  test('is a script for any shell, however long', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const long = `${'# a comment\n'.repeat(20_000)}print("from perl\\n"); exit 5`
    const id = await tasks.add(archive, { run: ['true'] })
    expectSuccess(await tasks.ended(id))
    const { payload } = await tasks.engine.millrace.task(id)
    const run = { type: 'script', script: long, shell: ['perl', '-w'] }
    const other = await tasks.engine.millrace.add('archive.task', { ...(payload as object), run }, { maxAttempts: 1 })
    const task = await tasks.ended(other.id)
    expect(task.log).toBe('from perl\n')
    expect(errorOf(task)).toMatchObject({ message: 'exited with 5', data: { exit_code: 5 } })
  })

  test('that is not there fails at once, whatever its retries', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, { run: ['no-such-program'], options: { maxAttempts: 5 } })
    expect(errorOf(task).message).toMatch(/^could not be started: .*no-such-program/)
    expect(await tasks.engine.millrace.attempts(task.id)).toHaveLength(1)
  })

  test('A15: that takes too long is ended with all it has started, and may be tried again', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const task = await tasks.run(archive, {
      run: 'echo begun; sleep 300',
      timeoutSeconds: 0.3,
      options: { maxAttempts: 2 },
    })
    expect(task.state).toBe('failed')
    expect(errorOf(task)).toMatchObject({
      message: 'timed out after 0.3 s',
      data: { exit_code: null, reason: 'timed_out' },
    })
    const attempts = await tasks.engine.millrace.attempts(task.id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['retry', 'failed'])
  })

  test('A15: is followed while it runs', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const gate = `${tasks.scratch()}/gate`
    const id = await tasks.add(archive, { run: `echo one; while [ ! -e ${gate} ]; do sleep 0.02; done; echo two` })
    const epoch = await waitFor(async () => (await tasks.engine.millrace.attempts(id))[0]?.epoch)
    const hasEnded = async () => (await tasks.engine.millrace.task(id)).finishedAt !== null
    const seen: string[] = []
    for await (const { bytes } of followOutput(tasks.engine.pool, { task: id, attempt: epoch, hasEnded })) {
      seen.push(bytes.toString())
      if (seen.join('') === 'one\n') await writeFile(gate, '')
    }
    expect(seen.join('')).toBe('one\ntwo\n')
    expect(seen.length).toBeGreaterThan(1)
  })
})

describe('a repository that does not answer', () => {
  test('is asked again within the attempt, and a moment of it costs no retry', async () => {
    const archive = await tasks.archive()
    let isAway = true
    const of = async () => {
      if (!isAway) return archive.repository
      isAway = false
      throw new RepositoryUnreachable('nobody answers at svn://nowhere')
    }
    await tasks.start({ repositories: { of } })
    const task = await tasks.run(archive, { run: 'cat a' })
    expectSuccess(task)
    expect(task.log).toBe(
      `[millrace: the workspace of ${archive.name} at revision 1 cannot be made: nobody answers at svn://nowhere; trying again in 0.01 s]\nfirst\n`,
    )
    expect(await tasks.engine.millrace.attempts(task.id)).toHaveLength(1)
  })

  test('puts the task off when it stays away, and says why', async () => {
    const archive = await tasks.archive()
    const of = async () => {
      throw new RepositoryUnreachable('nobody answers at svn://nowhere')
    }
    await tasks.start({ repositories: { of } })
    const id = await tasks.add(archive, { run: 'cat a' })
    const task = await waitFor(async () => {
      const found = await tasks.engine.millrace.task(id)
      return found.state === 'delayed' ? found : undefined
    })
    expect(task.failures).toBe(0)
    expect(await tasks.log(id)).toContain('nobody answers at svn://nowhere; again in 10 s]')
    await tasks.engine.millrace.cancel(id)
  })

  test('is not there for every archive: the task then runs in an empty folder', async () => {
    const archive = await tasks.archive()
    const of = async () => {
      throw new NoRepository(archive.name)
    }
    await tasks.start({ repositories: { of } })
    const task = await tasks.run(archive, {
      run: 'ls -A; [ -n "$MILLRACE_COMMIT_SOCKET" ] || echo none; echo x > out',
      artifacts: ['out'],
    })
    expectSuccess(task)
    expect(task.log).toBe('none\n')
    expect(task.output).toEqual({ exit_code: 0, artifacts: 1 })
  })
})

describe('an exit code', () => {
  test('of 0 is success and of 99 a success without artifacts', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    expect((await tasks.run(archive, { run: 'exit 0' })).output).toEqual({ exit_code: 0 })
    const skipped = await tasks.run(archive, { run: 'echo x > out; exit 99', artifacts: ['out'] })
    expect(skipped.state).toBe('succeeded')
    expect(skipped.output).toEqual({ exit_code: 99, skipped: true })
  })

  test('A15: is tried again as often as the task says, unless it is 100', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const [tried, final] = await Promise.all([
      tasks.run(archive, { run: 'exit 1', options: { maxAttempts: 2 } }),
      tasks.run(archive, { run: 'exit 100', options: { maxAttempts: 2 } }),
    ])
    const outcomes = async (id: string) => (await tasks.engine.millrace.attempts(id)).map(({ outcome }) => outcome)
    expect(await outcomes(tried.id)).toEqual(['retry', 'failed'])
    expect(await outcomes(final.id)).toEqual(['failed'])
    expect(errorOf(final)).toMatchObject({ message: 'exited with 100', data: { exit_code: 100 } })
  })

  test('of 111 asks for later without a retry', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const flag = `${tasks.scratch()}/flag`
    const task = await tasks.run(archive, { run: `if [ -e ${flag} ]; then exit 0; fi; touch ${flag}; exit 111` })
    expectSuccess(task)
    const attempts = await tasks.engine.millrace.attempts(task.id)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['later', 'succeeded'])
  })
})
