// Files that are made from the sources. `tsx scripts/generated.ts NAME` writes one of them; `npm run check` compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { workflowJsonSchema } from '../src/archives/index.ts'
import { dumpSchema } from './schema.ts'
import { drawStates } from './states.ts'
import { withDatabase } from './with-database.ts'

const generated = {
  states: { file: 'docs/states.md', make: drawStates },
  schema: { file: 'migrations/schema.sql', make: () => withDatabase(dumpSchema) },
  // For editors.
  'workflow-schema': {
    file: 'schemas/workflow.v1.json',
    make: async () => `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`,
  },
} satisfies Record<string, { file: string; make: () => Promise<string> }>

export type Generated = keyof typeof generated

const pathOf = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))

/** In what the committed file is not what the sources give. */
export async function compareGenerated(name: Generated): Promise<string[]> {
  const { file, make } = generated[name]
  const path = pathOf(file)
  const problem = firstDifference(existsSync(path) ? readFileSync(path, 'utf8') : '', await make())
  return problem === undefined ? [] : [`${file} is not what the sources give: ${problem}`]
}

/** Where two texts part, or undefined when they are equal. */
function firstDifference(committed: string, made: string): string | undefined {
  if (committed === made) return undefined
  const [have, want] = [committed.split('\n'), made.split('\n')]
  const line = want.findIndex((text, i) => text !== have[i])
  const at = line < 0 ? want.length : line
  return `line ${at + 1}\n  committed: ${have[at] ?? '(end)'}\n  generated: ${want[at] ?? '(end)'}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { file, make } = generated[process.argv[2] as Generated]
  writeFileSync(pathOf(file), await make())
}
