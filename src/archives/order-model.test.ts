// Random definitions and histories, planned while their tasks are performed, some of which fail, and compared with the
// model: nothing begins before what the rules make it wait for, nothing is canceled or skipped without a reason in the
// rules, exclusive tasks are alone, and in the end nothing is left.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Model, type Revision, revision } from '../../test/archive-model.ts'
import { useEngine } from '../../test/engine.ts'
import { inForm } from '../../test/long-form.ts'
import { planModel } from '../../test/plan-models.ts'
import { waitFor } from '../../test/processes.ts'
import { scratch } from '../../test/scratch.ts'
import { type AnyWorker, defineWorker, PermanentError } from '../engine/index.ts'
import { createArchives } from './archives.ts'
import { archiveTaskKind, archiveTaskSchema } from './payload.ts'

const engine = useEngine()
let archives = 0

type Ended = {
  readonly key: string
  readonly state: 'succeeded' | 'failed' | 'canceled' | 'skipped'
  /** Null: it never ran. */
  readonly began: number | null
  readonly ended: number
  /** Who superseded it, or made it impossible. */
  readonly culprit: string | null
}

/** All tasks of an archive, COMMIT too, once none of them is unfinished. The model's revisions count from 0. */
async function allEnded(archive: string): Promise<Ended[]> {
  await waitFor(async () => ((await isOver(archive)) ? true : undefined))
  const { rows } = await engine.pool.query<Ended>(
    `select t.number - 1 || ':' || t.name as key, d.state, c.number - 1 || ':' || c.name as culprit,
       extract(epoch from d.started_at)::float8 as began, extract(epoch from d.finished_at)::float8 as ended
     from millrace.archive_task t join millrace.done d on d.id = t.task
       left join millrace.archive_task c on c.task = d.culprit
     where t.archive = $1`,
    [archive],
  )
  return rows
}

type Edge = { readonly from: string; readonly to: string; readonly when: string }

/** What the rules say, whatever was over when a revision was planned. */
class Rules {
  readonly waits = new Map<string, Edge[]>()
  readonly cancels = new Map<string, string[]>()
  readonly #ended: ReadonlyMap<string, Ended>

  constructor(revisions: readonly Revision[], ended: readonly Ended[]) {
    this.#ended = new Map(ended.map((one) => [one.key, one]))
    const model = new Model()
    model.revisions.push(...revisions)
    for (const edge of revisions.flatMap((_, rev) => model.edges(rev))) {
      const [from = '', verb, to = '', when = ''] = edge.split(' ')
      if (verb === 'waits') this.waits.set(from, [...(this.waits.get(from) ?? []), { from, to, when }])
      else this.cancels.set(from, [...(this.cancels.get(from) ?? []), to])
    }
    const planned = revisions.flatMap((_, rev) => [
      `${rev}:COMMIT`,
      ...model.defined(rev).flatMap(({ name }) => (model.isPresent(rev, name) ? [`${rev}:${name}`] : [])),
    ])
    expect([...this.#ended.keys()].toSorted()).toEqual(planned.toSorted())
  }

  of(key: string): Ended {
    return this.#ended.get(key) as Ended
  }

  isMet({ to, when }: Edge): boolean {
    return when === 'finished' || this.of(to).state === when
  }

  /** Those of the key's requirements that were not met at that moment. */
  unmet(key: string, at: number): Edge[] {
    return (this.waits.get(key) ?? []).filter((edge) => !this.isMet(edge) || this.of(edge.to).ended > at)
  }
}

function compare(revisions: readonly Revision[], ended: readonly Ended[], failing: ReadonlySet<string>): void {
  const rules = new Rules(revisions, ended)
  for (const { key, state, began, ended: at, culprit } of ended) {
    const isMilestone = key.endsWith(':COMMIT')
    if (began !== null) expect(rules.unmet(key, began), `${key} began too early`).toEqual([])
    if (began !== null)
      for (const target of rules.cancels.get(key) ?? [])
        expect(rules.of(target).ended, `${key} did not wait for the end of ${target}`).toBeLessThanOrEqual(began)
    if (state === 'succeeded' || state === 'failed') {
      expect(state, key).toBe(failing.has(key) ? 'failed' : 'succeeded')
      if (isMilestone) expect(rules.unmet(key, at), key).toEqual([])
      else expect(began, `${key} ended without having begun`).not.toBe(null)
    } else if (state === 'skipped') {
      const impossible = (rules.waits.get(key) ?? []).filter((edge) => !rules.isMet(edge)).map(({ to }) => to)
      expect(impossible, `${key} was skipped because of ${culprit}`).not.toEqual([])
    } else {
      expect(rules.cancels.get(culprit ?? ''), `${key} was canceled by ${culprit}`).toContain(key)
      expect(rules.unmet(culprit ?? '', at), `${culprit} was not ready when it canceled ${key}`).toEqual([])
    }
  }
  compareExclusive(revisions, ended)
}

const revOf = (key: string) => Number.parseInt(key, 10)

/** Exclusive tasks are alone, and those of earlier revisions come first. */
function compareExclusive(revisions: readonly Revision[], ended: readonly Ended[]): void {
  const exclusive = new Set(
    revisions.flatMap(({ tasks }, rev) => tasks.filter((one) => one.exclusive).map(({ name }) => `${rev}:${name}`)),
  )
  const ran = ended
    .filter(({ key, began }) => exclusive.has(key) && began !== null)
    .toSorted((a, b) => (a.began as number) - (b.began as number))
  for (const [i, { key, began }] of ran.entries()) {
    const before = ran[i - 1]
    if (before === undefined) continue
    expect(before.ended, `${key} ran beside ${before.key}`).toBeLessThanOrEqual(began as number)
  }
  // All of earlier revisions are over by then, also what never ran.
  for (const { key, began } of ran)
    for (const earlier of ended.filter((one) => exclusive.has(one.key) && revOf(one.key) < revOf(key)))
      expect(earlier.ended, `${key} began before the end of ${earlier.key}`).toBeLessThanOrEqual(began as number)
}

const history = fc.array(
  fc.record({
    one: revision,
    /** How often it follows itself, planned together. */
    times: fc.integer({ min: 1, max: 3 }),
    /** How many tasks begin before the next one is planned. */
    pause: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 5 },
)
/** By a number that stands for the task: whether it fails, and how many turns it takes. */
const fates = fc.array(fc.record({ fails: fc.boolean(), turns: fc.integer({ min: 0, max: 6 }) }), {
  minLength: 13,
  maxLength: 13,
})

test('whatever is planned while tasks run and fail, the order is that of the rules', async () => {
  await using cache = await scratch()
  const options = { ...engine, pool: engine.pool, millrace: engine.millrace, cacheDir: cache.path, pollSeconds: 3600 }
  const verbs = createArchives({ ...options, onError: (error) => expect.fail(String(error)) })
  let fateOf: (key: string) => { readonly fails: boolean; readonly turns: number }
  let begun = 0
  const work: AnyWorker['work'] = async ({ task, signal }) => {
    begun += 1
    const { fails, turns } = fateOf(task.key ?? '')
    // Not time but ways to the database and back: others get their chance to come between.
    for (let turn = 0; turn < turns && !signal.aborted; turn += 1) await engine.pool.query('select')
    if (signal.aborted) throw signal.reason
    if (fails) throw new PermanentError('it was to fail')
    return undefined
  }
  const worker = defineWorker({ kind: archiveTaskKind, payload: archiveTaskSchema, work }) as AnyWorker
  await engine.dispatch([worker], { concurrency: 4 })
  await fc.assert(
    fc.asyncProperty(history, fates, async (steps, all) => {
      archives += 1
      const name = `order-${archives}`
      const { archive } = await verbs.register(name, { source: { type: 'push' }, actor: 'test' })
      const fateFor = (key: string) => {
        const [rev, task = ''] = key.split(':')
        return all[(Number(rev) * 5 + task.charCodeAt(0)) % all.length] as (typeof all)[number]
      }
      fateOf = fateFor
      const revisions: Revision[] = []
      for (const { one, times, pause } of steps) {
        const goal = begun + pause
        await planModel(engine, { id: archive.id, name }, { one, times, after: revisions.length })
        for (let i = 0; i < times; i += 1) revisions.push(one)
        // Either so many have begun, or nothing is left that could.
        await waitFor(async () => (begun >= goal || (await isOver(archive.id)) ? true : undefined))
      }
      const ended = await allEnded(archive.id)
      const failing = new Set(
        ended.map(({ key }) => key).filter((key) => !key.endsWith(':COMMIT') && fateFor(toReal(key)).fails),
      )
      compare(revisions, ended, failing)
    }),
    { numRuns: inForm(40, 500) },
  )
})

/** The model counts revisions from 0, an archive from 1. */
const toReal = (key: string) => `${Number.parseInt(key, 10) + 1}:${key.split(':')[1]}`

async function isOver(archive: string): Promise<boolean> {
  const { rows } = await engine.pool.query(
    `select from millrace.archive_task t join millrace.live l on l.id = t.task where t.archive = $1 limit 1`,
    [archive],
  )
  return rows.length === 0
}
