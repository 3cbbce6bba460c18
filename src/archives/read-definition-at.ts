// The workflow files at a revision, what they mean, and what the next commit would make of them.
import type { Db } from '../db/index.ts'
import { nextRuns } from './definition/cron.ts'
import { cronInWords } from './definition/cron-words.ts'
import type { Finding } from './definition/finding.ts'
import { type Graph, graphOfDefinition, graphOfPlans } from './definition/graph.ts'
import { toNotation } from './definition/notation.ts'
import { namesToLookUp, type Plan, plan } from './definition/plan.ts'
import type { Workflow } from './definition/workflow.ts'
import { find } from './find.ts'
import { findPlanned } from './find-revision.ts'
import { ArchiveHistory, chainedNames } from './history.ts'
import { definitionAt } from './reading.sql.ts'
import { type Defined, loadFiles } from './workflow-files.ts'

const NEXT_RUNS = 5

export type ShownFile = { readonly path: string; readonly text?: string; readonly base64?: string }

export type PlannedSchedule = {
  readonly workflow: string
  readonly cron: string
  readonly timezone: string
  readonly words: string
  readonly next: readonly Date[]
}

export type DefinitionAt = {
  readonly rev: number
  /** The same for the same files. */
  readonly hash: string
  readonly files: readonly ShownFile[]
  readonly problems: readonly Finding[]
  readonly workflows: readonly Workflow[]
  /** Null: the files have errors, and nobody knows what was meant. */
  readonly graph: Graph | null
  readonly schedules: readonly PlannedSchedule[]
}

export type NextPlan = {
  /** The revision whose files it goes by. */
  readonly of: number
  readonly plan: Plan
  /** As `millrace workflow plan` prints it. */
  readonly notation: string
  readonly graph: Graph
  readonly problems: readonly Finding[]
  readonly schedules: readonly PlannedSchedule[]
}

type Rev = number | string | undefined

/** The files of a planned revision, by default the newest. Throws `ArchiveNotFound` and `RevisionNotPlanned`. */
export async function definitionOf(db: Db, name: string, rev: Rev): Promise<DefinitionAt> {
  const { number, hash, defined } = await load(db, name, rev)
  const { workflows, problems } = defined.definition
  const isSound = !problems.some(({ severity }) => severity === 'error')
  return {
    rev: number,
    hash: hash.toString('hex').slice(0, 16),
    files: defined.files.map(toShown),
    problems,
    workflows,
    graph: isSound ? graphOfDefinition(defined.definition) : null,
    schedules: schedulesOf(workflows),
  }
}

export type AskedNext = {
  readonly rev?: Rev
  readonly author?: string
  readonly message?: string
  readonly changedPaths?: readonly string[]
}

/** What the next commit would add, were the files those of that revision, after all that is planned. */
export async function planNext(db: Db, name: string, asked: AskedNext): Promise<NextPlan> {
  const archive = await find(db, name)
  const { number, defined } = await load(db, name, asked.rev)
  const { definition } = defined
  const next = archive.planned.number + 1
  const history = await ArchiveHistory.read(db, {
    id: archive.id,
    archive: name,
    upTo: archive.planned.number,
    names: namesToLookUp(definition),
    chained: chainedNames(definition),
  })
  const facts = {
    archive: name,
    rev: next,
    author: asked.author ?? '',
    message: asked.message ?? '',
    branch: archive.source.type === 'git' ? (archive.source.branch ?? '') : '',
    changedPaths: asked.changedPaths ?? [],
    trigger: { type: 'commit' } as const,
  }
  const planned = plan(definition, facts, history.before(next))
  return {
    of: number,
    plan: planned,
    notation: toNotation([planned], { legend: true }),
    graph: graphOfPlans([planned]),
    problems: definition.problems,
    schedules: schedulesOf(definition.workflows),
  }
}

async function load(db: Db, name: string, rev: Rev): Promise<{ number: number; hash: Buffer; defined: Defined }> {
  const { archive, number } = await findPlanned(db, name, rev)
  const { definition: hash } = await definitionAt(db, { archive, number: String(number) })
  return { number, hash, defined: await loadFiles(db, hash) }
}

function toShown({ path, bytes }: Defined['files'][number]): ShownFile {
  const buffer = Buffer.from(bytes)
  const text = buffer.toString()
  return Buffer.from(text).equals(buffer) ? { path, text } : { path, base64: buffer.toString('base64') }
}

function schedulesOf(workflows: readonly Workflow[]): PlannedSchedule[] {
  const now = new Date()
  return workflows.flatMap(({ name: workflow, on }) =>
    on.schedule.map(({ cron, timezone }) => ({
      workflow,
      cron,
      timezone,
      words: cronInWords(cron),
      next: nextRuns({ cron, timezone }, now, NEXT_RUNS),
    })),
  )
}
