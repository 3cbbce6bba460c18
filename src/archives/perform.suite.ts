// What every kind of repository gives the tasks of its archives.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorOf, expectSuccess, TOKEN, useArchiveTasks } from '../../test/archive-tasks.ts'
import { isAlive, waitFor } from '../../test/processes.ts'
import { folder, type Ground } from '../../test/repositories/ground.ts'
import { collect } from '../vcs/index.ts'
import { formatMarker, parseMarker } from './commit-marker.ts'

const COMMIT = `curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer $MILLRACE_TOKEN" -d '{"message": "made"}' http://millrace/commit`

export function testPerforming(kind: string, makeGround: () => Promise<Ground>): void {
  describe(`a task of an archive in ${kind}`, () => {
    const tasks = useArchiveTasks(makeGround)

    test('runs in a workspace at its revision, which the next one finds clean', async () => {
      const archive = await tasks.archive()
      const first = await archive.repository.youngest()
      await archive.commit({ a: 'second\n', 'folder/b': 'new\n' })
      await tasks.start()
      const old = await tasks.run(archive, { run: 'cat a; ls; echo dirt > a; echo dirt > c; pwd', rev: first })
      expectSuccess(old)
      expect(old.log).toMatch(/^first\na\n\//)
      const young = await tasks.run(archive, { run: ['sh', '-c', 'cat a folder/b; ls'] })
      expect(young.log).toBe('second\nnew\na\nfolder\n')
      expect(young.output).toEqual({ exit_code: 0 })
      expect(readdirSync(tasks.scratch()).filter((name) => name.startsWith('task-'))).toEqual([])
    })

    test('commits with `commit` once, however often it is performed', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      const script = `
        echo made > made
        ask() { curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer $MILLRACE_TOKEN" -d "$1" http://millrace/commit; }
        ask '{"message": "made by a task"}'
        ask '{"message": "nothing is different"}'
        exit 1`
      const task = await tasks.run(archive, { run: script, depth: 2, name: 'maker', options: { maxAttempts: 2 } })
      expect(task.state).toBe('failed')
      const attempts = await tasks.engine.millrace.attempts(task.id)
      expect(attempts).toHaveLength(2)
      expect(task.log).toContain('"is_new":false')
      const log = await collect(archive.repository.log())
      expect(log.map(({ message }) => message.split('\n')[0])).toEqual(['a change', 'made by a task'])
      const cause = parseMarker(log[1]?.marks['cause'] ?? '')
      expect(cause).toMatchObject({ name: `${archive.name}@1:maker`, task: task.id, commit: 1, attempt: 1, depth: 3 })
      expect(log[1]?.changes).toEqual([{ path: 'made', action: 'A', kind: 'file' }])
    })

    test('commits only with its own token, and no longer than it runs', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      const script = `
        echo made > made
        curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer x$MILLRACE_TOKEN" -d '{"message": "no"}' http://millrace/commit
        curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -d '{"message": "no"}' http://millrace/commit
        curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer $MILLRACE_TOKEN" -d '{"massage": 1}' http://millrace/commit
        echo "$MILLRACE_COMMIT_SOCKET"`
      const task = await tasks.run(archive, { run: script })
      expectSuccess(task)
      expect(task.log.match(/"code":"\w+"/g)).toEqual([
        '"code":"unauthorized"',
        '"code":"unauthorized"',
        '"code":"invalid"',
      ])
      expect(existsSync(task.log.trim().split('\n').at(-1) ?? '')).toBe(false)
      expect(await archive.repository.youngest()).toMatchObject({ number: 1 })
      expect(task.log).not.toContain(TOKEN)
    })

    test('commits nothing once its lease is lost', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      await using place = await folder()
      const [begun, go, answer] = ['begun', 'go', 'answer'].map((name) => join(place.path, name)) as [
        string,
        string,
        string,
      ]
      const wait = `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done`
      const id = await tasks.add(archive, { run: `${wait}; echo made > made; ${COMMIT} > ${answer}` })
      await waitFor(async () => (existsSync(begun) ? true : undefined))
      // As if another dispatcher had claimed it since, of which this one has not heard yet.
      await tasks.engine.pool.query('update millrace.live set epoch = epoch + 1 where id = $1', [id])
      await writeFile(go, '')
      const said = () => (existsSync(answer) ? readFileSync(answer, 'utf8') : '')
      await waitFor(async () => (said().includes('"code":"lease_lost"') ? true : undefined))
      expect(await archive.repository.youngest()).toMatchObject({ number: 1 })
    })

    test('waits with a commit while a lost lease may be resumed', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      await using place = await folder()
      const [begun, go] = ['begun', 'go'].map((name) => join(place.path, name)) as [string, string]
      const wait = `touch ${begun}; while [ ! -e ${go} ]; do sleep 0.05; done`
      const id = await tasks.add(archive, { run: `${wait}; echo made > made; ${COMMIT}` })
      await waitFor(async () => (existsSync(begun) ? true : undefined))
      const { pool } = tasks.engine
      await pool.query(`update millrace.live set state = 'waiting', lost_by = holder, holder = null where id = $1`, [
        id,
      ])
      await writeFile(go, '')
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await archive.repository.youngest()).toMatchObject({ number: 1 })
      await pool.query(`update millrace.live set state = 'running', holder = lost_by, lost_by = null where id = $1`, [
        id,
      ])
      expectSuccess(await tasks.ended(id))
      expect(await archive.repository.youngest()).toMatchObject({ number: 2 })
    })

    test('finds what another attempt has committed, also when it is the first', async () => {
      const archive = await tasks.archive()
      const rev = await archive.repository.youngest()
      const id = await tasks.add(archive, { run: `echo made > made; ${COMMIT}`, rev })
      const by = tasks.workshop().markerPrefix.replace(/^millrace-|-$/g, '')
      const marker = formatMarker({ name: `${archive.name}@1:x`, by, task: id, commit: 1, attempt: 2, depth: 1 })
      {
        await using workspace = await archive.repository.workspace({ revision: rev, key: 'other' })
        await writeFile(join(workspace.path, 'made'), 'made\n')
        await archive.repository.commit(workspace, { message: 'by the second attempt', marker })
      }
      await tasks.start()
      expect((await tasks.ended(id)).log).toContain('"is_new":false')
      expect(await archive.repository.youngest()).toMatchObject({ number: 2 })
    })

    test('that conflicts with what others committed meanwhile is told so, and nothing is overwritten', async () => {
      const archive = await tasks.archive()
      const first = await archive.repository.youngest()
      await archive.commit({ a: 'by another\n' })
      await tasks.start()
      const script = `
        echo mine > a
        curl -sS --unix-socket "$MILLRACE_COMMIT_SOCKET" -H "Authorization: Bearer $MILLRACE_TOKEN" -d '{"message": "mine"}' http://millrace/commit`
      const task = await tasks.run(archive, { run: script, rev: first })
      expect(task.log).toContain('"code":"out_of_date"')
      expect((await archive.repository.read('a', await archive.repository.youngest())).toString()).toBe('by another\n')
    })

    test('is canceled only when no process of it is left, and keeps its log', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      const script = `
        (trap '' TERM; echo "child $(sh -c 'echo $PPID')"; while :; do sleep 0.05; done) &
        trap '' TERM
        echo "shell $$"
        while :; do sleep 0.05; done`
      const id = await tasks.add(archive, { run: script })
      const pids = await waitFor(async () => {
        const found = [...(await tasks.log(id)).matchAll(/(?:shell|child) (\d+)/g)].map(([, pid]) => Number(pid))
        return found.length === 2 ? found : undefined
      })
      expect(pids.map(isAlive)).toEqual([true, true])
      await tasks.engine.millrace.cancel(id)
      const task = await tasks.ended(id)
      expect(task.state).toBe('canceled')
      expect(pids.map(isAlive)).toEqual([false, false])
      expect(task.log).toContain('shell')
    })

    test('whose revision cannot be had fails in a way that passes, and says why', async () => {
      const archive = await tasks.archive()
      await tasks.start()
      const id = 'f'.repeat(40)
      const task = await tasks.run(archive, { run: 'true', rev: { number: 77, id } })
      expect(task.state).toBe('failed')
      expect(errorOf(task)).toMatchObject({ category: 'transient' })
      expect(errorOf(task).message).toContain(`the workspace of ${archive.name} at revision 77 cannot be made: `)
    })
  })
}
