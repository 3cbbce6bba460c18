import type { Filter } from '../contenders/contender.ts'
import { type Claim, figures, freshStore, quantile, type Verdict } from '../harness/bench.ts'
import { load } from '../harness/load.ts'

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
      }
    }
    const slowest = Math.max(...Object.keys(FILTERS).map((name) => found.of('millrace', name)))
    const verdict: Verdict = {
      bar: `p99 under ${LIMIT_MS} ms by every filter`,
      reached: Number.isNaN(slowest) ? 'not measured' : `${slowest.toFixed(1)} ms by the slowest`,
      held: Number.isNaN(slowest) ? null : slowest < LIMIT_MS,
    }
    return {
      claim: `${list.about}: p99 (${bench.sizes.stored.toLocaleString('en-US')} tasks stored, ${bench.sizes.samples} requests each)`,
      rows: found.rows,
      verdicts: [verdict],
      notes: ['A request looks for 20 ms at most and may then answer a part of a page with the cursor to go on.'],
    }
  },
}
