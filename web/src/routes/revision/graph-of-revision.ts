import type { BodyAnswered, routes } from '../../api.ts'
import type { Graph, GraphEdge, GraphNode, TaskPlace } from '../../parts/graph/graph.ts'
import { lookOf, taskLooks } from '../../parts/state-badge.tsx'

export type Revision = BodyAnswered<typeof routes.archives.revision>
export type RevisionTask = Revision['tasks'][number]

/** The part of a task's address behind its revision. */
export const taskParam = ({ name, run }: Pick<RevisionTask, 'name' | 'run'>): string =>
  run === null ? name : `${name}#${run}`

/** What a key names: `My-Project@11:index#7`. The name of an archive may hold every sign, so it is read from the end. */
export function placeOf(key: string): TaskPlace | undefined {
  const found = /^(.*)@(\d+):([^:]*)$/s.exec(key)
  if (found === null) return undefined
  const [, name = '', rev = '', task = ''] = found
  return { name, rev, task }
}

/** The tasks of a revision and what they wait for; those of earlier revisions stand at the side. */
export function graphOfRevision({ number, tasks, edges }: Revision, archive: string): Graph {
  const own = new Map(tasks.map((task) => [task.key, task]))
  const nodes = tasks.map(
    (task): GraphNode => toNode(task, { name: archive, rev: String(number), task: taskParam(task) }),
  )
  const earlier = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].filter((key) => !own.has(key))
  return { nodes: [...nodes, ...earlier.map(toStub)], edges: withoutImplied(edges.map(toEdge), own) }
}

function toNode(task: RevisionTask, place: TaskPlace): GraphNode {
  return {
    id: task.key,
    label: taskParam(task),
    kind: task.workflow === null && task.name === 'COMMIT' ? 'commit' : 'task',
    look: lookOf(taskLooks, task.state),
    note: task.superseded_by === null ? undefined : 'superseded by a later revision',
    place,
  }
}

function toStub(key: string): GraphNode {
  const place = placeOf(key)
  return { id: key, label: place === undefined ? key : `r${place.rev} ${place.task}`, kind: 'earlier', place }
}

const toEdge = ({ from, to, kind }: Revision['edges'][number]): GraphEdge =>
  // In the answer `to` is the one that cancels.
  kind === 'cancels'
    ? { from: to, to: from, kind: 'cancels' }
    : { from, to, kind: 'depends', when: kind === 'succeeded' ? null : kind }

/** Every task waits for COMMIT; where it waits for another of its revision as well, that says it. */
function withoutImplied(edges: readonly GraphEdge[], own: ReadonlyMap<string, RevisionTask>): GraphEdge[] {
  const isCommit = (key: string) => own.get(key)?.name === 'COMMIT'
  const isBehind = new Set(
    edges.filter(({ from, kind }) => kind === 'depends' && own.has(from) && !isCommit(from)).map(({ to }) => to),
  )
  return (
    edges
      .filter(({ from, to, kind }) => kind === 'cancels' || !isCommit(from) || !isBehind.has(to))
      // An earlier one is waited for until it is over, and nobody expects otherwise.
      .map((edge) => (edge.when === 'finished' && !own.has(edge.from) ? { ...edge, when: null } : edge))
  )
}
