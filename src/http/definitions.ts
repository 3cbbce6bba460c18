import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { Archives, DefinitionAt, Finding, NextPlan, PlannedSchedule, Requirement } from '../archives/index.ts'
import { addRoute } from './add-route.ts'

/** `/v1/archives/{name}/definition` and `…/plan`. */
export function addDefinitions(app: FastifyInstance, archives: Archives): void {
  const { definitions } = routes
  addRoute(app, definitions.get, async ({ params, query }) => {
    const found = await archives.definition(params.name, toRev(query.rev))
    return {
      archive: params.name,
      rev: found.rev,
      hash: found.hash,
      files: [...found.files],
      problems: found.problems.map(toFinding),
      workflows: found.workflows.map(toWorkflow),
      graph: found.graph === null ? null : toGraph(found.graph),
      schedules: found.schedules.map(toSchedule),
    }
  })
  addRoute(app, definitions.plan, async ({ params, query }) => {
    const { rev, author, message, path } = query
    const found = await archives.planNext(params.name, {
      rev: toRev(rev),
      ...(author === undefined ? {} : { author }),
      ...(message === undefined ? {} : { message }),
      ...(path === undefined ? {} : { changedPaths: path }),
    })
    return {
      archive: params.name,
      of: found.of,
      rev: Number(found.plan.rev),
      tasks: toTasks(found.plan),
      absent: found.plan.absent.map((one) => ({ ...one })),
      notation: found.notation,
      graph: toGraph(found.graph),
      problems: found.problems.map(toFinding),
      schedules: found.schedules.map(toSchedule),
    }
  })
}

const toRev = (rev: string | undefined) => (rev === undefined || rev.length === 40 ? rev : Number(rev))

function toTasks({ commit, tasks }: NextPlan['plan']) {
  const none = { workflow: null, queue: null, image: null, is_exclusive: false, cancels: [] }
  const milestone =
    commit === undefined
      ? []
      : [{ ...none, name: commit.name, key: commit.key, requires: commit.requires.map(toRequirement) }]
  const rest = tasks.map(({ name, key, workflow, queue, image, locks, requires, cancels }) => ({
    name,
    key,
    workflow,
    queue,
    image,
    is_exclusive: locks.length > 0,
    requires: requires.map(toRequirement),
    cancels: [...cancels],
  }))
  return [...milestone, ...rest]
}

const toRequirement = ({ key, when, because, insteadOf }: Requirement) => ({
  key,
  when,
  because,
  instead_of: insteadOf ?? null,
})

const toWorkflow = ({ name, file, on, tasks }: DefinitionAt['workflows'][number]) => ({
  name,
  file,
  is_on_commit: on.commit !== undefined,
  inputs: on.inputs.map((input) => ({
    name: input.name,
    default: input.default ?? null,
    description: input.description ?? null,
    is_required: input.isRequired,
    options: input.options === undefined ? null : [...input.options],
  })),
  tasks: tasks.map((task) => task.name),
})

const toGraph = ({ nodes, edges }: NextPlan['graph']) => ({
  nodes: nodes.map((node) => ({ ...node })),
  edges: edges.map(({ when, ...edge }) => ({ ...edge, when: when ?? null })),
})

const toPlace = <T extends { endLine: number; endColumn: number }>({ endLine, endColumn, ...rest }: T) => ({
  ...rest,
  end_line: endLine,
  end_column: endColumn,
})

const toFinding = ({ related, ...finding }: Finding) => ({ ...toPlace(finding), related: related.map(toPlace) })

const toSchedule = ({ next, ...schedule }: PlannedSchedule) => ({
  ...schedule,
  next: next.map((at) => at.toISOString()),
})
