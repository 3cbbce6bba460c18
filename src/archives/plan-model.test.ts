// Random definitions and histories, planned on a real database and compared with the model.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Model, NAMES, revision } from '../../test/archive-model.ts'
import { useEngine } from '../../test/engine.ts'
import { inForm } from '../../test/long-form.ts'
import { planModel } from '../../test/plan-models.ts'
import { scratch } from '../../test/scratch.ts'
import { createArchives } from './archives.ts'

const engine = useEngine()
let archives = 0

/** A revision, how often it follows itself, planned together, and whether it is then asked for again what had ended. */
const step = fc.record({
  one: revision,
  times: fc.integer({ min: 1, max: 3 }),
  retries: fc.array(fc.nat(), { maxLength: 2 }),
})

type Place = { readonly id: string; readonly name: string }

/** Which tasks are over, by key; COMMIT left out. */
async function overIn({ id }: Place): Promise<Set<string>> {
  const { rows } = await engine.pool.query<{ key: string }>(
    `select t.number - 1 || ':' || t.name as key from millrace.archive_task t
     where t.archive = $1 and t.name <> 'COMMIT' and not exists (select from millrace.live l where l.id = t.task)`,
    [id],
  )
  return new Set(rows.map(({ key }) => key))
}

/** The edges of a revision as the model writes them: its revisions count from 0. */
async function edgesIn({ id }: Place, number: number, over: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await engine.pool.query<{ edge: string }>(
    `with own as (select number - 1 || ':' || name as key, task, number from millrace.archive_task where archive = $1)
     select o.key || ' waits ' || p.key || ' ' || e.condition as edge
     from own o join millrace.edge e on e.dependent = o.task join own p on p.task = e.prerequisite
     where o.number = $2 and e.condition <> 'ended'
     union all
     select o.key || ' cancels ' || p.key
     from own o cross join lateral (
       -- Along a chain a task cancels what the nearest one would.
       with recursive named as (
         select s.target, s.is_chain from millrace.supersede s where s.task = o.task
         union
         select s.target, s.is_chain from named n join millrace.supersede s on s.task = n.target
         where n.is_chain and s.is_chain
       )
       select distinct target from named
     ) named join own p on p.task = named.target
     where o.number = $2 and not p.key = any($3)`,
    [id, number, [...over]],
  )
  return rows.map(({ edge }) => edge).sort()
}

/** Tasks that should have been canceled by a later one of their name, which is ready. Those asked for again came later. */
async function overlooked({ id }: Place): Promise<unknown[]> {
  const { rows } = await engine.pool.query(
    `select later.number, later.name, earlier.number as earlier
     from millrace.archive_task later
       join millrace.live on live.id = later.task and live.state = 'ready'
       join millrace.archive_task earlier on earlier.archive = later.archive and earlier.name = later.name
       join millrace.live unfinished on unfinished.id = earlier.task
     where later.archive = $1 and later.is_chained and later.opened = 0 and earlier.opened = 0
       and earlier.number < later.number`,
    [id],
  )
  return rows
}

const keyOf = (name: string, key: string) => {
  const [rev = '', task = ''] = key.split(':')
  return { scope: `archive:${name}`, key: `${Number(rev) + 1}:${task}` }
}

test('what is planned on the database has the edges that the rules give for the whole history', async () => {
  await using cache = await scratch()
  const options = { ...engine, pool: engine.pool, millrace: engine.millrace, cacheDir: cache.path, pollSeconds: 3600 }
  const verbs = createArchives({ ...options, onError: (error) => expect.fail(String(error)) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      archives += 1
      const { archive } = await verbs.register(`model-${archives}`, { source: { type: 'push' }, actor: 'test' })
      const model = new Model()
      for (const { one, times, retries } of steps) {
        model.over.clear()
        for (const key of await overIn(archive)) model.over.add(key)
        const after = model.revisions.length
        await planModel(engine, archive, { one, times, after })
        for (let i = 0; i < times; i += 1) {
          model.revisions.push(one)
          expect(await edgesIn(archive, after + i + 1, model.over)).toEqual([...new Set(model.edges(after + i))].sort())
        }
        await change(archive.name, model, { archive, ends: one.ends, retries })
        expect(await overlooked(archive)).toEqual([])
      }
    }),
    { numRuns: inForm(25, 500) },
  )
})

/** Ends some tasks, and asks again for some that were over. */
async function change(
  name: string,
  model: Model,
  { archive, ends, retries }: { archive: Place; ends: readonly number[]; retries: readonly number[] },
): Promise<void> {
  const present = NAMES.flatMap((task) =>
    model.revisions.flatMap((_, at) => (model.isPresent(at, task) ? [`${at}:${task}`] : [])),
  )
  const pick = (from: readonly string[], at: number) => from[at % Math.max(from.length, 1)]
  for (const end of ends) {
    const over = await overIn(archive)
    const key = pick(
      present.filter((one) => !over.has(one)),
      end,
    )
    if (key !== undefined) await engine.millrace.cancel(keyOf(name, key))
  }
  for (const retry of retries) {
    const key = pick([...(await overIn(archive))].sort(), retry)
    if (key !== undefined) await engine.millrace.retry(keyOf(name, key)).catch(() => {})
  }
}
