import { COMMIT, PREV } from './names.ts'
import { toLabel } from './notation.ts'
import type { Plan } from './plan.ts'
import type { Definition } from './read-definition.ts'
import type { When } from './workflow.ts'

export type GraphNode = {
  readonly id: string
  readonly label: string
  /** `earlier` is a task that stands outside of what is drawn, at an earlier revision. */
  readonly kind: 'commit' | 'task' | 'earlier'
}

/** From what is waited for to who waits; from who cancels to what is canceled. */
export type GraphEdge = {
  readonly from: string
  readonly to: string
  readonly kind: 'depends' | 'cancels'
  /** Set where it is not what a reader expects. */
  readonly when: When | undefined
}

export type Graph = { readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] }

/** The tasks of the workflow files as they stand, each file's condition and filter aside. */
export function graphOfDefinition({ workflows }: Definition): Graph {
  const drawing = new Drawing()
  const label = ({ name, isPrevious }: { name: string; isPrevious: boolean }) => (isPrevious ? `${PREV}:${name}` : name)
  drawing.node(`${PREV}:${COMMIT}`, 'earlier')
  drawing.node(COMMIT, 'commit')
  drawing.depends(`${PREV}:${COMMIT}`, COMMIT)
  const tasks = workflows.flatMap((workflow) => workflow.tasks)
  for (const { name } of tasks) drawing.node(name, 'task')
  const commit = { name: COMMIT, depends: workflows.flatMap((workflow) => workflow.commitDepends), cancels: [] }
  for (const { name, depends, cancels } of [commit, ...tasks]) {
    if (name !== COMMIT && !depends.some((one) => !one.isPrevious)) drawing.depends(COMMIT, name)
    for (const one of cancels) drawing.cancels(name, label(one))
    for (const one of depends) {
      const usual = one.isPrevious ? 'finished' : 'succeeded'
      drawing.depends(label(one), name, one.when === usual ? undefined : one.when)
    }
  }
  return drawing
}

/** The tasks of planned revisions, with those of earlier ones that they wait for or cancel. */
export function graphOfPlans(plans: readonly Plan[]): Graph {
  const drawing = new Drawing()
  for (const { commit, tasks } of plans) {
    if (commit) drawing.node(toLabel(commit.key), 'commit')
    for (const { key } of tasks) drawing.node(toLabel(key), 'task')
  }
  for (const { commit, tasks, rev } of plans) {
    const siblings = new Set(tasks.map(({ key }) => key))
    for (const { key, requires, cancels } of [...(commit ? [{ ...commit, cancels: [] }] : []), ...tasks]) {
      const isBehindAnother = requires.some((one) => siblings.has(one.key))
      for (const target of cancels) drawing.cancels(toLabel(key), toLabel(target))
      for (const one of requires) {
        if (one.because === 'implicit' && isBehindAnother) continue
        const from = toLabel(one.key)
        const usual = from.startsWith(`rev-${rev}:`) ? 'succeeded' : 'finished'
        drawing.depends(from, toLabel(key), one.when === usual ? undefined : one.when)
      }
    }
  }
  return drawing
}

class Drawing implements Graph {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #edges = new Map<string, GraphEdge>()

  get nodes(): readonly GraphNode[] {
    return [...this.#nodes.values()]
  }

  get edges(): readonly GraphEdge[] {
    return [...this.#edges.values()]
  }

  node(label: string, kind: GraphNode['kind']): string {
    const known = this.#nodes.get(label)
    if (known) return known.id
    const id = `n${this.#nodes.size}`
    this.#nodes.set(label, { id, label, kind })
    return id
  }

  depends(from: string, to: string, when?: When): void {
    this.#edge({ from, to, kind: 'depends', when })
  }

  cancels(from: string, to: string): void {
    this.#edge({ from, to, kind: 'cancels', when: undefined })
  }

  #edge({ from, to, kind, when }: GraphEdge): void {
    const edge = { from: this.node(from, 'earlier'), to: this.node(to, 'earlier'), kind, when }
    this.#edges.set(`${edge.from} ${edge.to} ${kind} ${when}`, edge)
  }
}
