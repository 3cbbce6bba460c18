import type { BodyAnswered, routes } from '../../api.ts'
import type { LiveEvent } from '../../live.ts'

type List = BodyAnswered<typeof routes.nodes.list>
type Told = Extract<List, readonly unknown[]>[number]
/** A node as the tree shows it: all that the list can tell. */
export type TreeRow = { readonly [key in keyof Told]-?: Exclude<Told[key], undefined> }

export const ROW_METADATA =
  'id,type,parent,state,run_if,branch,created_at,started_at,finished_at,task,summary,result,children'

/** What an event makes of a row, and whether the exit code is to be asked for. The row itself when it changes nothing. */
export function patchRow(row: TreeRow, event: LiveEvent): { readonly row: TreeRow; readonly isUnsure: boolean } {
  const { to, from, at, name } = event
  switch (to) {
    case 'running': {
      const state = name === 'cancel_requested' ? 'killing' : 'running'
      return sure({ ...row, state, started_at: row.started_at ?? at, finished_at: null, result: null })
    }
    case 'succeeded': {
      // Commands that succeeded ended with 0; of the other types the exit is not that simple.
      const isPlain = row.type === 'command' || row.type === 'shell command'
      const ended = { ...row, state: 'finished' as const, finished_at: at, result: isPlain ? 0 : null }
      return { row: ended, isUnsure: !isPlain && row.type !== 'sleep' }
    }
    case 'failed':
      return { row: { ...row, state: 'failed', finished_at: at }, isUnsure: true }
    case 'canceled':
      return sure({ ...row, state: 'killed', finished_at: at, result: null })
    case 'skipped':
      return sure({ ...row, state: 'skipped', finished_at: at, result: null })
    case 'waiting':
    case 'ready':
    case 'delayed':
    case 'held':
      // Between two performances of the same work a node runs.
      if (from === 'running') return sure(row)
      if (row.state === 'incipient') return sure(row)
      return sure({ ...row, state: 'incipient', started_at: null, finished_at: null, result: null })
    case null:
      return sure(row)
  }
}

const sure = (row: TreeRow) => ({ row, isUnsure: false })
