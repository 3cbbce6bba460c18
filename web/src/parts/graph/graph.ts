import type { StateLook } from '../state-badge.tsx'

/** Where a task of an archive is: the parameters of its address. */
export type TaskPlace = { readonly name: string; readonly rev: string; readonly task: string }

export type GraphNode = {
  readonly id: string
  readonly label: string
  /** `earlier` stands outside, at an earlier revision; `group` stands for several. */
  readonly kind: 'commit' | 'task' | 'earlier' | 'group'
  /** How its state looks; undefined: it has none, as in a plan. */
  readonly look?: StateLook | undefined
  /** Said after its name and state: how long it ran, what replaced it. */
  readonly note?: string | undefined
  /** The task's own page. */
  readonly place?: TaskPlace | undefined
  /** Of a group: who is in it. */
  readonly members?: readonly GraphNode[] | undefined
}

/** From what is waited for to who waits; from who cancels to what is canceled. */
export type GraphEdge = {
  readonly from: string
  readonly to: string
  readonly kind: 'depends' | 'cancels'
  /** Where it is not what a reader expects: `failed`, `finished`. */
  readonly when?: string | null | undefined
}

export type Graph = { readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] }
