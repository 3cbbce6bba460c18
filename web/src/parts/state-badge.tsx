import type { BodyAnswered, routes } from '../api.ts'
import './state-badge.css'

type TaskState = BodyAnswered<typeof routes.tasks.get>['state']
type NodeState = BodyAnswered<typeof routes.nodes.get>['metadata']['state']
type RevisionState = BodyAnswered<typeof routes.archives.revision>['state']
type ArchiveState = BodyAnswered<typeof routes.archives.get>['state']
type ScheduleState = BodyAnswered<typeof routes.schedules.list>['items'][number]['state']

/** The tokens that colours of states come from: `var(--state-running)`. */
export type StateColour =
  | 'waiting'
  | 'delayed'
  | 'ready'
  | 'running'
  | 'held'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'skipped'

export type StateLook = { readonly glyph: string; readonly word: string; readonly colour: StateColour }

const look = (glyph: string, word: string, colour: StateColour): StateLook => ({ glyph, word, colour })

export const taskLooks: Readonly<Record<TaskState, StateLook>> = {
  waiting: look('○', 'waiting', 'waiting'),
  delayed: look('◔', 'delayed', 'delayed'),
  ready: look('◇', 'ready', 'ready'),
  running: look('◐', 'running', 'running'),
  held: look('‖', 'held', 'held'),
  succeeded: look('●', 'succeeded', 'succeeded'),
  failed: look('✕', 'failed', 'failed'),
  canceled: look('⊘', 'canceled', 'canceled'),
  skipped: look('–', 'skipped', 'skipped'),
}

export const nodeLooks: Readonly<Record<NodeState, StateLook>> = {
  incipient: look('○', 'incipient', 'waiting'),
  running: look('◐', 'running', 'running'),
  killing: look('◑', 'being killed', 'held'),
  finished: look('●', 'finished', 'succeeded'),
  failed: look('✕', 'failed', 'failed'),
  killed: look('⊘', 'killed', 'canceled'),
  skipped: look('–', 'skipped', 'skipped'),
}

export const revisionLooks: Readonly<Record<RevisionState, StateLook>> = {
  planned: look('○', 'planned', 'waiting'),
  running: look('◐', 'running', 'running'),
  succeeded: look('●', 'succeeded', 'succeeded'),
  failed: look('✕', 'failed', 'failed'),
  canceled: look('⊘', 'canceled', 'canceled'),
  broken: look('!', 'broken', 'failed'),
}

export const archiveLooks: Readonly<Record<ArchiveState, StateLook>> = {
  active: look('●', 'active', 'succeeded'),
  held: look('‖', 'held', 'held'),
  broken: look('!', 'broken', 'failed'),
}

export const scheduleLooks: Readonly<Record<ScheduleState, StateLook>> = {
  active: look('●', 'active', 'succeeded'),
  paused: look('‖', 'paused', 'held'),
  broken: look('!', 'broken', 'failed'),
}

/** How a state looks that came as plain text; an unknown one is shown by its name. */
export const lookOf = (looks: Readonly<Record<string, StateLook>>, state: string): StateLook =>
  looks[state] ?? look('?', state, 'waiting')

/** A state by glyph, word and colour: `<StateBadge look={taskLooks[task.state]} />`. */
export function StateBadge({ look: { glyph, word, colour } }: { readonly look: StateLook }) {
  return (
    <span className={`state state-${colour}`}>
      <span className="state-glyph" aria-hidden="true">
        {glyph}
      </span>
      {word}
    </span>
  )
}
