import { expect, test } from 'vitest'
import { aWorker, useEngine } from '../../test/engine.ts'
import { AmbiguousTask, TaskNotFound } from './index.ts'
import { nameOfTask, resolveTask } from './resolve.ts'

const engine = useEngine()
const worker = aWorker()

const add = (scope: string, key: string) => engine.add(worker, { scope, key, heldBy: 'test' })
const resolve = (name: string) => resolveTask(engine.pool, name)

test('a number is an id', async () => {
  const id = await engine.add(worker)
  expect(await resolve(id)).toBe(id)
  for (const none of ['0', '99999999', '9'.repeat(40)]) await expect(resolve(none)).rejects.toBeInstanceOf(TaskNotFound)
  await engine.drain(worker)
})

test.each([
  ['My-Project@12:index', 'archive:My-Project', '12:index'],
  ['My-Project@12:build:PDF', 'archive:My-Project', '12:build:PDF'],
  ['of@home@3:a', 'archive:of@home', '3:a'],
  ['group/project@7:x', 'archive:group/project', '7:x'],
  ['Überblick 任务@1:ß "q" %_', 'archive:Überblick 任务', '1:ß "q" %_'],
  ['branch:main/cs-1', 'branch:main', 'cs-1'],
  ['batch:9/a/b@c:d', 'batch:9', 'a/b@c:d'],
  ['a//b', 'a', '/b'],
  ["x'; drop table/--", "x'; drop table", '--'],
])('%s is a task by its name', async (name, scope, key) => {
  const id = await add(scope, key)
  expect(await resolve(name)).toBe(id)
})

test('the name of a task resolves to it', async () => {
  for (const [scope, key] of [
    ['archive:Name', '4:COMMIT'],
    ['archive:Name', 'no revision'],
    ['archive:a@b', '1:c@2:d'],
    ['default', 'x/y'],
  ] as const) {
    const id = await add(scope, key)
    expect(await resolve(nameOfTask({ scope, key }) as string)).toBe(id)
  }
  expect(nameOfTask({ scope: 'archive:Name', key: '4:COMMIT' })).toBe('Name@4:COMMIT')
  expect(nameOfTask({ scope: 'default', key: null })).toBeNull()
})

test.each(['', '@', '/', 'a@', '@1:x', 'a@1', 'a/', '/b', 'nobody@1:x', 'x\u0000/y', 'a/'.repeat(2000), '-1', '1.5'])(
  'the name "%s" belongs to no task',
  async (name) => {
    await expect(resolve(name)).rejects.toBeInstanceOf(TaskNotFound)
  },
)

test('a name that fits two tasks names both of them', async () => {
  const first = await add('archive:one', '1:x/2:y')
  const second = await add('one@1:x', '2:y')
  const error = (await resolve('one@1:x/2:y').catch((thrown: unknown) => thrown)) as AmbiguousTask
  expect(error).toBeInstanceOf(AmbiguousTask)
  expect(error.tasks).toEqual([first, second])
})
