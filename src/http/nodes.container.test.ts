import { existsSync, readlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { IMAGE, useContainers } from '../../test/containers.ts'
import { below, command, type Item, shell, speaking, useNodes } from '../../test/nodes.ts'
import { waitFor } from '../../test/processes.ts'
import { aServer } from '../../test/server.ts'
import { connect } from '../engine/index.ts'

const containers = useContainers()
const nodes = useNodes({ grace_seconds: 1 })

const inside = (item: Item, data: Record<string, unknown> = {}) =>
  below('root', item, { data: { image: IMAGE, ...data } })
const script = (text: string) => inside(command('sh', '-c', text))
const count = () => containers.podman('ps', '--quiet').split('\n').filter(Boolean).length

describe('nodes in containers', () => {
  test('a command runs in its image, with its environment and its mounts', async () => {
    const [node] = await nodes.run(
      inside(command('sh', '-c', 'echo $GREETING $MILLRACE_NODE; cat /inside/hostname; pwd; exit 4'), {
        env: { GREETING: 'hello' },
        mounts: ['/etc:/inside:ro'],
        cwd: '/bin',
      }),
    )
    expect(node.metadata.state, node.data.error).toBe('failed')
    expect(node.data.result).toBe(4)
    expect(node.data.stdout).toMatch(new RegExp(`^hello ${node.metadata.id}\n[^\n]*\n?/bin\n$`))
  })

  test('a killed node leaves no container', async () => {
    const [id] = (await nodes.add(script('echo up; sleep 300'))) as [string]
    await waitFor(async () =>
      (await nodes.ask('GET', `/v1/nodes/${id}/data/stdout`)).json.data === 'up\n' ? true : undefined,
    )
    expect(count()).toBe(1)
    await nodes.ask('PUT', `/v1/scheduler/kill?id=${id}`)
    expect(await nodes.ended(id)).toEqual(['killed'])
    expect((await nodes.get(id)).data.signal).toMatch(/^SIG(TERM|KILL)$/)
    expect(count()).toBe(0)
  })

  test('an image that is not there is a failure that says so', async () => {
    const [node] = await nodes.run(below('root', command('true'), { data: { image: 'localhost/nothing:1' } }))
    expect(node.metadata.state).toBe('failed')
    expect(node.data.error).toMatch(/^could not be started: /)
    const [broken] = await nodes.run(below('root', command('true'), { data: { image: '--privileged' } }))
    expect(broken.metadata.state).toBe('failed')
  })

  test('a container goes on while its server is away, and the next one takes it up with all of its output', async () => {
    const go = `/tmp/millrace-container-${process.pid}`
    await using first = await aServer({ concurrency: 2, drain_seconds: 0 })
    const before = speaking(() => first)
    const wait = 'echo one; while [ ! -e /inside/go ]; do sleep 0.1; done; echo two'
    const [folder] = await before.run(shell(`mkdir -p ${go}`))
    expect(folder.metadata.state).toBe('finished')
    const [id, child] = (await before.add(
      inside(command('sh', '-c', wait), { mounts: [`${go}:/inside`] }),
      below('#0', command('true')),
    )) as [string, string]
    await waitFor(async () => ((await before.value(id, 'stdout').catch(() => '')) === 'one\n' ? true : undefined))
    await first.stop()
    expect(count()).toBe(1)

    await using second = await aServer({ on: first.database })
    const after = speaking(() => second)
    expect((await after.get(id)).metadata.state).toBe('running')
    await after.run(shell(`touch ${go}/go`))
    expect(await after.ended(id, child)).toEqual(['finished', 'finished'])
    expect((await after.get(id)).data).toMatchObject({ result: 0, stdout: 'one\ntwo\n' })
    await after.run(shell(`rm -r ${go}`))
    expect(existsSync(go)).toBe(false)
  })

  test('a container whose node was killed while no server watched it is ended by the next one', async () => {
    await using first = await aServer({ concurrency: 2, drain_seconds: 0 })
    const before = speaking(() => first)
    const [killed, kept] = (await before.add(script('echo up; sleep 300'), script('echo up; sleep 300'))) as [
      string,
      string,
    ]
    for (const id of [killed, kept])
      await waitFor(async () => ((await before.value(id, 'stdout').catch(() => '')) === 'up\n' ? true : undefined))
    await first.stop()
    // The servers of these tests share a process, so that none of them is dead: the names say that one is.
    const dead = `${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]}.4194304.1.1`
    for (const name of containers.podman('ps', '--format', '{{.Names}}').trim().split('\n'))
      containers.podman('rename', name, `${name}--${dead}`)
    const { rows } = await first.database.pool.query('select task from millrace.node where id = $1', [killed])
    const elsewhere = await connect({ databaseUrl: first.database.databaseUrl })
    await elsewhere.cancel(String(rows[0].task))
    await elsewhere.close()

    await using second = await aServer({ on: first.database, grace_seconds: 1 })
    const after = speaking(() => second)
    expect(await after.ended(killed)).toEqual(['killed'])
    await waitFor(() => (count() === 1 ? true : undefined))
    expect(await after.states(kept)).toEqual(['running'])
    await after.ask('PUT', `/v1/scheduler/kill?id=${kept}`)
    expect(await after.ended(kept)).toEqual(['killed'])
    expect(count()).toBe(0)
  })

  test('a container that is gone when the next server looks for it is lost', async () => {
    await using first = await aServer({ concurrency: 2, drain_seconds: 0 })
    const before = speaking(() => first)
    const [id] = (await before.add(script('echo one; sleep 300'))) as [string]
    await waitFor(async () => ((await before.value(id, 'stdout').catch(() => '')) === 'one\n' ? true : undefined))
    await first.stop()
    containers.podman('rm', '--all', '--force', '--time', '0')
    await using second = await aServer({ on: first.database })
    const after = speaking(() => second)
    expect(await after.ended(id)).toEqual(['failed'])
    expect((await after.get(id)).data).toMatchObject({
      error: 'lost: its server was stopped while it ran',
      stdout: 'one\n',
    })
  })
})
