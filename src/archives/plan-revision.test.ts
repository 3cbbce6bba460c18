import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  announce,
  archiveServer,
  commitFiles,
  DOCUMENT,
  edgesOf,
  performing,
  planned,
  registered,
  shown,
  stateOf,
  untilState,
} from '../../test/archives.ts'
import type { Ground } from '../../test/repositories/ground.ts'
import { svnFiles } from '../../test/repositories/svn.ts'

let ground: Ground
beforeAll(async () => {
  ground = await svnFiles()
})
afterAll(() => ground[Symbol.asyncDispose]())

const workflow = (text: string) => ({ '_workflows/a.yaml': text })

const DOCUMENT_EDGES = [
  '1:COMMIT <-- 2:COMMIT',
  '2:COMMIT <-- 2:indexing',
  '2:COMMIT <-- 2:build-PDF',
  '2:indexing <-- 2:build-PDF',
  '2:COMMIT <-- 3:COMMIT',
  '3:COMMIT <-- 3:indexing',
  '2:indexing <-- 3:indexing',
  '3:COMMIT <-- 3:build-PDF',
  '3:indexing <-- 3:build-PDF',
  '2:build-PDF <!= 3:build-PDF',
]

test('notices 3 and 2, each twice, give the graph and the course of the document', async () => {
  const server = await archiveServer()
  const work = await performing(server.database)
  const { name, plain } = await registered(server, ground, { from: 1, first: [{ 'README.md': 'x' }] })
  await planned(server, name, 1)
  work.block('2:build-PDF')
  await commitFiles(plain, workflow(DOCUMENT))
  await commitFiles(plain, { 'chapter.txt': 'y' })
  expect(await announce(server, name, 3)).toBe(202)
  await planned(server, name, 3)
  expect(await announce(server, name, 2)).toBe(200)
  expect(await announce(server, name, 3)).toBe(200)
  expect((await edgesOf(server, name, 2, 3)).sort()).toEqual([...DOCUMENT_EDGES].sort())
  await work.seen('end 3:build-PDF')
  await untilState(server, `${name}@3:build-PDF`, 'succeeded')
  const course = work.log.filter((line) => !/^(start|end) 2:build-PDF$/.test(line))
  expect(course).toEqual([
    'start 2:indexing',
    'end 2:indexing',
    'start 3:indexing',
    'end 3:indexing',
    'stop 2:build-PDF',
    'start 3:build-PDF',
    'end 3:build-PDF',
  ])
  expect(await stateOf(server, `${name}@2:build-PDF`)).toBe('canceled')
  const { tasks } = await shown(server, name, 2)
  const { tasks: later } = await shown(server, name, 3)
  const idOf = (list: object[], key: string) =>
    (list as { key: string; id: string }[]).find((one) => one.key === key)?.id
  expect(tasks).toMatchObject([{}, {}, { superseded_by: idOf(later, `${name}@3:build-PDF`) }])
})
