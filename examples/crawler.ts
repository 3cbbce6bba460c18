// A crawler of one site, in three steps that insert one another: locate an address, fetch what is there, process it and
// locate what it links to. Each step's outcome, its rows and the next tasks commit together, so that a crash at any point
// loses nothing and repeats only what had not been recorded.
//
//   npx tsx examples/crawler.ts postgres://localhost/crawl https://example.org/
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { z } from 'zod'
import { connect, defineWorker, type Millrace, PermanentError, TransientError, type Tx } from '../src/index.ts'

const pageTable = `create table if not exists crawled_page (
  url text primary key, title text not null, link_count int not null, processed_by bigint not null
)`

/** Finds where an address leads, so that two addresses of one page are fetched once. */
export const locate = defineWorker({
  kind: 'crawl.locate',
  payload: z.object({ url: z.url() }),
  async work({ payload, signal }) {
    const response = await request(payload.url, { method: 'HEAD', signal })
    return { url: withoutFragment(response.url) }
  },
  async onSuccess(tx, _task, { url }) {
    await tx.add(fetchPage, { url }, { scope: 'crawl', key: `fetch ${url}` })
  },
})

export const fetchPage = defineWorker({
  kind: 'crawl.fetch',
  payload: z.object({ url: z.url() }),
  maxAttempts: 5,
  backoff: { firstSeconds: 0.1 },
  async work({ payload, signal, log }) {
    const response = await request(payload.url, { signal })
    if (!response.headers.get('content-type')?.startsWith('text/html')) return { html: '' }
    const html = await response.text()
    log('fetched', { url: payload.url, characters: html.length })
    return { html }
  },
  async onSuccess(tx, task, { html }) {
    const { url } = task.payload
    if (html !== '') await tx.add(processPage, { url, html }, { scope: 'crawl', key: `process ${url}` })
  },
})

export const processPage = defineWorker({
  kind: 'crawl.process',
  payload: z.object({ url: z.url(), html: z.string() }),
  work({ payload: { url, html } }) {
    const title = /<title>([^<]*)<\/title>/i.exec(html)?.[1] ?? url
    const found = [...html.matchAll(/<a\s[^>]*href="([^"]*)"/gi)].map(([, href = '']) => new URL(href, url))
    const links = found.filter(({ origin }) => origin === new URL(url).origin).map(({ href }) => withoutFragment(href))
    return { title, links: [...new Set(links)] }
  },
  async onSuccess(tx, task, { title, links }) {
    await tx.query('insert into crawled_page values ($1, $2, $3, $4)', [task.payload.url, title, links.length, task.id])
    await locateAll(tx, links)
  },
})

/** A key makes a task unique in its scope: a page that many link to is located once. */
async function locateAll(tx: Tx, urls: readonly string[]): Promise<void> {
  await tx.addMany(urls.map((url) => ({ worker: locate, payload: { url }, scope: 'crawl', key: `locate ${url}` })))
}

/** An answer of the site. What may pass by itself is tried again later; what will not fails the task at once. */
async function request(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new TransientError(`${url} cannot be reached`, { cause: error })
  })
  if (response.ok) return response
  const message = `${url} answered ${response.status}`
  throw response.status >= 500 || response.status === 429 ? new TransientError(message) : new PermanentError(message)
}

const withoutFragment = (url: string) => url.replace(/#.*/, '')

/** Asks for a crawl from `start`. The table and the first task come in one transaction of the program's own. */
export async function begin(pool: pg.Pool, millrace: Millrace, start: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(pageTable)
    const url = withoutFragment(start)
    await millrace.add(locate, { url }, { scope: 'crawl', key: `locate ${url}`, client })
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

export const workers = [locate, fetchPage, processPage]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [databaseUrl = '', start = ''] = process.argv.slice(2)
  const millrace = await connect({ databaseUrl, migrate: true })
  const pool = new pg.Pool({ connectionString: databaseUrl })
  await begin(pool, millrace, start)
  await pool.end()
  millrace.dispatch(workers, { concurrency: 8, onLog: (entry) => console.log(entry.message, entry.fields) })
  // What runs is finished, what waits is there at the next start.
  process.once('SIGINT', () => void millrace.close())
}
