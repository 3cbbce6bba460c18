import type { Filter } from '../contenders/contender.ts'
import { type Claim, figures, freshStore, quantile, type Verdict } from '../harness/bench.ts'
import { load } from '../harness/load.ts'
import { type Server, startServer } from '../harness/server.ts'

const LIMIT_MS = 50

/** Frequent and rare of everything, and what is not there at all; see lists.sql. */
const FILTERS: Record<string, Filter> = {
  everything: {},
  failed: { state: ['failed'] },
  canceled: { state: ['canceled'] },
  skipped: { state: ['skipped'] },
  succeeded: { state: ['succeeded'] },
  running: { state: ['running'] },
  held: { state: ['held'] },
  delayed: { state: ['delayed'] },
  ready: { state: ['ready'] },
  waiting: { state: ['waiting'] },
  'failed or ready': { state: ['failed', 'ready'] },
  'scope of half of all': { scope: 'default' },
  'scope of one in 250': { scope: 'archive:50' },
  'scope of a hundred, old': { scope: 'batch:99' },
  'scope of fifty, spread': { scope: 'rare:spread' },
  'scope of nobody': { scope: 'nobody' },
  'scopes that begin so, many': { scopePrefix: 'archive:' },
  'scopes that begin so, few': { scopePrefix: 'rare:' },
  'scopes that begin so, none': { scopePrefix: 'zzz' },
  'kind, frequent': { kind: 'bench.frequent' },
  'kind, rare': { kind: 'bench.rare' },
  queue: { queue: 'heavy' },
  creator: { creator: '999' },
  'failed in a scope': { state: ['failed'], scope: 'archive:6' },
  'failed, of a rare scope': { state: ['failed'], scope: 'rare:spread' },
  'skipped, of a rare kind': { state: ['skipped'], kind: 'bench.rare' },
  'waiting, of a rare scope': { state: ['waiting'], scope: 'rare:spread' },
  'succeeded, of a rare kind': { state: ['succeeded'], kind: 'bench.rare' },
  'word, frequent': { text: 'index' },
  'word, rare': { text: 'spread' },
  'word, none': { text: 'nothing-like-it' },
  'word and state': { text: 'state:failed spread' },
  'key in a scope': { text: 'scope:default key:1000:index' },
  'key alone': { text: 'key:1000:index' },
  id: { text: 'id:1234' },
  stuck: { text: 'is:stuck' },
}

/** The filter as a request asks for it; undefined: only the library has it. */
function queryOf({ state, scope, scopePrefix, kind, queue, creator, text }: Filter): URLSearchParams | undefined {
  if (creator !== undefined) return undefined
  const given = {
    state: state?.join(','),
    scope: scopePrefix === undefined ? scope : `${scopePrefix}*`,
    kind,
    queue,
    q: text,
    limit: '50',
  }
  return new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** One page after another over HTTP, from the request to the parsed answer; from the start again after the last. */
async function throughServer(server: Server, query: URLSearchParams, samples: number): Promise<number[]> {
  const taken: number[] = []
  let cursor: string | null = null
  const ask = () => {
    const place = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    return server.ask<{ next_cursor: string | null }>('GET', `/v1/tasks?${query.toString()}${place}`)
  }
  await ask()
  while (taken.length < samples) {
    const from = performance.now()
    const page = await ask()
    taken.push(performance.now() - from)
    cursor = page.next_cursor
  }
  return taken
}

const slowestOf = (found: ReturnType<typeof figures>, contender: string) =>
  Math.max(...found.rows.filter((row) => row.contender === contender).map(({ what }) => found.of(contender, what)))

const within = (bar: string, slowest: number): Verdict => ({
  bar,
  reached: Number.isFinite(slowest) ? `${slowest.toFixed(1)} ms by the slowest` : 'not measured',
  held: Number.isFinite(slowest) ? slowest < LIMIT_MS : null,
})

export const list: Claim = {
  name: 'list',
  about: 'a page of tasks by any filter, the first one and those that follow',
  async measure(bench) {
    const found = figures()
    if (bench.takesPart('millrace')) {
      const url = await freshStore(bench, 'millrace')
      load(bench, url, 'lists.sql', { stored: bench.sizes.stored })
      for (let round = 1; round <= bench.rounds; round++) {
        console.log(` round ${round} of ${bench.rounds}`)
        const argument = { filters: FILTERS, samples: bench.sizes.samples }
        const request = { contender: 'millrace', url, operation: 'list', argument } as const
        const { value } = await bench.perform<Record<string, number[]>>(request)
        for (const [name, times] of Object.entries(value)) found.note('millrace', name, 'ms', quantile(times, 0.99))
        // The tasks that are stored are nobody's of this server: it only answers.
        const server = await startServer(url, { MILLRACE_RATE_LIMIT: '0' })
        try {
          for (const [name, filter] of Object.entries(FILTERS)) {
            const query = queryOf(filter)
            if (query === undefined) continue
            const times = await throughServer(server, query, bench.sizes.samples)
            found.note('over HTTP', name, 'ms', quantile(times, 0.99))
          }
        } finally {
          await server.stop()
        }
      }
    }
    return {
      claim: `${list.about}: p99 (${bench.sizes.stored.toLocaleString('en-US')} tasks stored, ${bench.sizes.samples} requests each)`,
      rows: found.rows,
      verdicts: [
        within(`p99 under ${LIMIT_MS} ms by every filter`, slowestOf(found, 'millrace')),
        within(`over HTTP: p99 under ${LIMIT_MS} ms by every filter`, slowestOf(found, 'over HTTP')),
      ],
      notes: ['A request looks for 20 ms at most and may then answer a part of a page with the cursor to go on.'],
    }
  },
}
