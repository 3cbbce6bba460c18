import { expect, test } from 'vitest'
import { homeOf, listedName, nameInArchive, nameOfTask } from './task-name.ts'

const of = (scope: string, key: string | null) => ({ id: '7', scope, key })

test('a task is called by its natural key', () => {
  expect(nameOfTask(of('archive:My-Project', '12:index'))).toBe('My-Project@12:index')
  expect(nameOfTask(of('node', '42'))).toBe('node/42')
  expect(nameOfTask(of('archive:x', 'odd'))).toBe('archive:x/odd')
  expect(nameOfTask(of('any', null))).toBe('7')
})

test('a list says whose each task is; within one archive its key is enough', () => {
  const tasks = [of('archive:Book', '2:publish'), of('node', '42'), of('any', null)]
  expect(tasks.map(listedName)).toEqual(['Book@2:publish', 'node/42', 'any 7'])
  expect(tasks.map(nameInArchive)).toEqual(['2:publish', '42', 'any 7'])
})

test('a task is at home in its archive or tree', () => {
  expect(homeOf(of('archive:a:b', '12:in:dex#7'))).toEqual({
    is: 'archive',
    archive: 'a:b',
    rev: '12',
    task: 'in:dex#7',
  })
  expect(homeOf(of('node', '42'))).toEqual({ is: 'node', node: '42' })
  expect(homeOf(of('archive:a', null))).toEqual({ is: 'other' })
})
