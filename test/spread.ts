import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of these projects take long and mostly wait. None of them starts last, when nothing runs beside it. */
const LONG = new Set(['crash', 'e2e'])
const LONG_END = 0.9

/** Spreads the files of each project over the run, so that files that wait run beside files that compute. */
export class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const seen = new Map<string, number>()
    const placed = sorted.map((file) => {
      const { name } = file.project
      const before = seen.get(name) ?? 0
      seen.set(name, before + 1)
      return { file, name, before }
    })
    const placeOf = ({ name, before }: (typeof placed)[number]) =>
      (before / (seen.get(name) ?? 1)) * (LONG.has(name) ? LONG_END : 1)
    return placed.sort((a, b) => placeOf(a) - placeOf(b)).map(({ file }) => file)
  }
}
