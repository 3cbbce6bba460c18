import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files in these folders take long and mostly wait. None of them starts last, when nothing runs beside it. */
const LONG = /\/test\/(crash|e2e)\//
const LONG_END = 0.9

/**
 * Spreads the long files over the run, so that files that wait run beside files that compute. Files of the first project
 * come before those of the next: processes are shared only by neighbours of one project.
 */
export class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const seen = new Map<string, number>()
    const placed = sorted.map((file) => {
      const group = LONG.exec(file.moduleId)?.[1] ?? file.project.name
      const before = seen.get(group) ?? 0
      seen.set(group, before + 1)
      return { file, group, before }
    })
    const placeOf = ({ file, group, before }: (typeof placed)[number]) =>
      (before / (seen.get(group) ?? 1)) * (LONG.test(file.moduleId) ? LONG_END : 1)
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort()
    const orderOf = (one: (typeof placed)[number]) => projects.indexOf(one.file.project.name) + placeOf(one)
    return placed.sort((a, b) => orderOf(a) - orderOf(b)).map(({ file }) => file)
  }
}
