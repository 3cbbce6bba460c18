import pg from 'pg'
import { type Bench, type Claim, figures, freshStore, median, ratioBar } from '../harness/bench.ts'

const FREE = 'add and drain, no snapshot held'
const HELD = 'add and drain, snapshot held'
const LATE = 'add and drain, last third of the hold'
const BATCH = 10_000
const TURN_SECONDS = 60

/** Adds and drains for that long; answers the rate. */
async function sustain(bench: Bench, contender: string, url: string, seconds: number): Promise<number> {
  const argument = { seconds, sliceSeconds: seconds, batch: BATCH }
  return median((await bench.perform<number[]>({ contender, url, operation: 'sustain', argument })).value)
}

/** Keeps a snapshot open, as a forgotten transaction or a long report does, so that vacuum can remove nothing. */
async function holdingSnapshot<T>(url: string, work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  try {
    await holder.query('begin isolation level repeatable read')
    await holder.query('select count(*) from pg_class')
    return await work()
  } finally {
    await holder.end()
  }
}

export const snapshot: Claim = {
  name: 'snapshot',
  about: 'add and drain for long while a snapshot is held, against the same without',
  async measure(bench) {
    const found = figures()
    const seconds = bench.sizes.snapshotMinutes * 60
    const turn = Math.min(TURN_SECONDS, seconds)
    for (const contender of ['millrace', 'graphile', 'pg-boss'].filter(bench.takesPart)) {
      // A snapshot keeps vacuum out of its own database only: the other one is what the machine can do at the time.
      const other = await freshStore(bench, contender, 'free')
      const url = await freshStore(bench, contender)
      const free: number[] = []
      const held: number[] = []
      await holdingSnapshot(url, async () => {
        for (let past = 0; past < seconds; past += turn) {
          held.push(await sustain(bench, contender, url, turn))
          free.push(await sustain(bench, contender, other, turn / 4))
        }
      })
      found.note(contender, FREE, 'tasks/s', median(free))
      found.note(contender, HELD, 'tasks/s', median(held))
      found.note(contender, LATE, 'tasks/s', median(held.slice(-Math.ceil(held.length / 3))))
    }
    const free = found.of('millrace', FREE)
    return {
      claim: `${snapshot.about} (${bench.sizes.snapshotMinutes} minutes)`,
      rows: found.rows,
      verdicts: [
        ratioBar('whole hold >= 0.8 x', found.of('millrace', HELD) / free, { atLeast: 0.8 }),
        ratioBar('last third of the hold >= 0.8 x', found.of('millrace', LATE) / free, { atLeast: 0.8 }),
      ],
      notes: [
        'Minutes with the snapshot held take turns with a quarter of a minute without, in another database. The rate counts adding as well, so that the load never ends.',
      ],
    }
  },
}
