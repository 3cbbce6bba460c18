import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { begin, workers } from '../examples/crawler.ts'
import { ask, fibonacciWorker } from '../examples/fibonacci.ts'
import { drain } from '../src/testing.ts'
import { useEngine } from './engine.ts'

const engine = useEngine()

let site: Server
let address: string
const served = new Map<string, number>()

const pages: Record<string, string> = {
  '/': '<title>Home</title><a href="/a">a</a> <a href="/b#top">b</a> <a href="https://elsewhere.example/">out</a>',
  '/a': '<title>A</title><a href="/b">b</a><a href="/">home</a><a href="/moved">moved</a><a href="/gone">gone</a>',
  '/b': '<title>B</title><a href="/busy">busy</a><a href="/file">file</a>',
  '/busy': '<title>Busy</title>',
}

beforeAll(async () => {
  site = createServer((request, response) => {
    const { url = '', method = '' } = request
    const count = (served.get(`${method} ${url}`) ?? 0) + 1
    served.set(`${method} ${url}`, count)
    const page = pages[url]
    if (url === '/moved') response.writeHead(301, { location: '/a' }).end()
    else if (url === '/file') response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF')
    else if (url === '/busy' && method === 'GET' && count === 1) response.writeHead(503).end()
    else if (page === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})

afterAll(async () => {
  site.closeAllConnections()
  site.close()
  await once(site, 'close')
})

test('the crawler visits each page of a site once and keeps what it found', async () => {
  await begin(engine.pool, engine.millrace, `${address}/`)
  const { counts } = await drain(engine.millrace, workers, { includeDelayed: true })
  const { rows } = await engine.pool.query('select url, title, link_count from crawled_page order by url')
  expect(rows).toEqual([
    { url: `${address}/`, title: 'Home', link_count: 2 },
    { url: `${address}/a`, title: 'A', link_count: 4 },
    { url: `${address}/b`, title: 'B', link_count: 2 },
    { url: `${address}/busy`, title: 'Busy', link_count: 0 },
  ])
  expect(['/', '/a', '/b'].map((path) => served.get(`GET ${path}`))).toEqual([1, 1, 1])
  expect(counts).toMatchObject({ failed: 1, retry: 1 })
  expect(
    await engine.states((await engine.millrace.task({ scope: 'crawl', key: `locate ${address}/gone` })).id),
  ).toEqual(['failed'])
})

test('a second crawl of the same site finds everything done', async () => {
  served.clear()
  await begin(engine.pool, engine.millrace, `${address}/`)
  const dispatcher = await engine.dispatch(workers)
  await dispatcher.idle()
  expect(served.size).toBe(0)
})

test('Fibonacci computes each number exactly once', async () => {
  const worker = fibonacciWorker(engine.millrace)
  const id = await ask(engine.millrace, worker, 20)
  await engine.dispatch([worker])
  await expect.poll(() => engine.states(id)).toEqual(['succeeded'])
  expect((await engine.millrace.task(id)).output).toBe(6765)
  const { rows } = await engine.pool.query(`
    select task.key, (select count(*)::int from millrace.history where history.task = task.id and name = 'succeeded') as times
    from millrace.task where scope = 'fibonacci' order by task.id`)
  expect(rows).toHaveLength(21)
  expect(rows.every(({ times }) => times === 1)).toBe(true)
})
