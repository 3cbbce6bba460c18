import { type Claim, figures, freshStore, perSecond, ratioBar } from '../harness/bench.ts'

const RATE = '1 -> n -> 1'
const DECLARED = '1 -> n -> 1, declared beforehand with 2 n edges'

export const fan: Claim = {
  name: 'fan',
  about: 'one task, many after it, one after all of them: from adding the graph to the start of the last',
  async measure(bench) {
    const found = figures()
    const width = bench.sizes.fan
    for (let round = 1; round <= bench.rounds; round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      for (const contender of ['bullmq', 'dbos-workflows', 'dbos-steps', 'millrace'].filter(bench.takesPart)) {
        const url = await freshStore(bench, contender)
        const { value } = await bench.perform<number>({ contender, url, operation: 'fan', argument: width })
        found.note(contender, RATE, 'tasks/s', perSecond(width + 2, value))
        if (contender !== 'millrace') continue
        const again = await freshStore(bench, contender)
        const declared = await bench.perform<number>({
          contender,
          url: again,
          operation: 'declaredFan',
          argument: width,
        })
        found.note(contender, DECLARED, 'tasks/s', perSecond(width + 2, declared.value))
      }
    }
    return {
      claim: `${fan.about} (n = ${width.toLocaleString('en-US')})`,
      rows: found.rows,
      verdicts: [ratioBar('>= 5 x BullMQ', found.of('millrace', RATE) / found.of('bullmq', RATE), { atLeast: 5 })],
      notes: [
        'The first task adds the rest for everyone, as it must in BullMQ: a flow is a tree. Of the graph that is declared beforehand, which only Millrace can, adding is inside the time as well.',
      ],
    }
  },
}
