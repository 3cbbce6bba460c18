import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectSuccess, TOKEN, useArchiveTasks } from '../../test/archive-tasks.ts'
import { IMAGE, useContainers } from '../../test/containers.ts'
import { waitFor } from '../../test/processes.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import { createContainerRunner } from '../runners/index.ts'
import { listArtifacts } from '../storage/index.ts'

const containers = useContainers()
const containerRunner = createContainerRunner()
const tasks = useArchiveTasks(gitFiles, () => ({ containerRunner }))
beforeAll(async () => {
  await tasks.secrets().set({ archive: '', name: 'KEY', value: 'the first line\nof two lines', actor: 'test' })
})
const running = () => containers.podman('ps', '--all', '--quiet').split('\n').filter(Boolean).length

describe('a task in a container', () => {
  test('has the workspace, what it is handed, and leaves artifacts', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const before = await tasks.add(archive, { run: 'echo passed on > x', artifacts: ['x'], name: 'before' })
    const task = await tasks.run(archive, {
      run: 'pwd; cat a; cat "$MILLRACE_ARTIFACTS/before/x"; echo "$MILLRACE_TASK"; wc -l < "$MILLRACE_CHANGED_PATHS"; echo "$KEY" | head -1; echo made > made; test -S "$MILLRACE_COMMIT_SOCKET"; test -d "$(cat .git/objects/info/alternates)"',
      image: IMAGE,
      secrets: ['KEY'],
      artifacts: ['made'],
      name: 'inside',
      options: { requires: [before] },
    })
    expectSuccess(task)
    expect(task.log).toBe('/workspace\nfirst\npassed on\ninside\n0\n***\n')
    expect((await listArtifacts(tasks.engine.pool, { tasks: [task.id], limit: 9 })).map(({ path }) => path)).toEqual([
      'made',
    ])
    expect(running()).toBe(0)
  })

  test('is the default where one is set', async () => {
    const archive = await tasks.archive()
    await tasks.start({ defaultImage: IMAGE })
    const task = await tasks.run(archive, { run: ['sh', '-c', 'pwd; exit 4'] })
    expect(task.log).toBe('/workspace\n')
    expect(task.error).toMatchObject({ message: 'exited with 4' })
  })

  test('does not show its secrets to whoever looks at processes', async () => {
    const archive = await tasks.archive()
    await tasks.start()
    const seen: string[] = []
    const id = await tasks.add(archive, { run: 'echo up; sleep 300', image: IMAGE, secrets: ['KEY'] })
    await waitFor(async () => {
      seen.push(execFileSync('ps', ['-eww', '-o', 'args'], { encoding: 'utf8' }))
      return (await tasks.log(id)) === 'up\n' ? true : undefined
    })
    expect(seen.join('')).toContain(IMAGE)
    expect(seen.join('')).not.toContain('of two lines')
    expect(seen.join('')).not.toContain(TOKEN)
    await tasks.engine.millrace.cancel(id)
    expect((await tasks.ended(id)).state).toBe('canceled')
    expect(running()).toBe(0)
  })

  test('whose worker stops is ended, and goes back to be performed again', async () => {
    const archive = await tasks.archive()
    const first = await tasks.start()
    const id = await tasks.add(archive, { run: 'echo up; sleep 300', image: IMAGE })
    await waitFor(async () => ((await tasks.log(id)) === 'up\n' ? true : undefined))
    expect(running()).toBe(1)
    await first.dispatcher.stop()
    await first.worker.settled()
    expect(running()).toBe(0)
    expect((await tasks.engine.millrace.task(id)).state).toBe('ready')
    await tasks.engine.millrace.cancel(id)
  })
})
