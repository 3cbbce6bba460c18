import type { NodeId, NodeState } from './node.ts'
import type { Reach } from './reach.ts'

/** One thing that is wrong with what was given, and where: `/body/0/data/args`. */
export type Flaw = { readonly pointer: string; readonly message: string }

/** What was given for nodes or their data cannot be meant. `errors` say where. */
export class InvalidNode extends Error {
  readonly code = 'invalid'
  readonly errors: readonly Flaw[]
  constructor(errors: readonly Flaw[]) {
    const [first] = errors
    const rest = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
    super(`${first?.pointer}: ${first?.message}${rest}`)
    this.errors = errors.slice(0, 50)
  }
}

export class NodeNotFound extends Error {
  readonly code = 'node_not_found'
  constructor(ids: readonly NodeId[]) {
    super(ids.length === 1 ? `node ${ids[0]} does not exist` : `nodes ${some(ids)} do not exist`)
  }
}

export class KeyNotFound extends Error {
  readonly code = 'key_not_found'
  constructor(node: NodeId, key: string) {
    super(`node ${node} has no data under the key "${key}"`)
  }
}

/** The node, or one below it, is in a state that does not allow it. */
export class NodeStateRefused extends Error {
  readonly code = 'node_state_refused'
  readonly remedy: string | undefined
  constructor(node: NodeId, state: NodeState, participle: string) {
    super(`node ${node} is ${state} and cannot be ${participle}`)
    this.remedy = state === 'running' || state === 'killing' ? 'wait for its end, or kill it first' : undefined
  }
}

export class NodesRunning extends Error {
  readonly code = 'node_state_refused'
  readonly remedy = 'wait for their end, or kill them first'
  constructor(node: NodeId, running: readonly NodeId[]) {
    super(`node ${node} cannot be removed while these run: ${some(running)}`)
  }
}

export class NodeHasChildren extends Error {
  readonly code = 'node_has_children'
  readonly remedy = 'give chain=true to remove it and all below'
  constructor(node: NodeId, count: number) {
    super(`node ${node} has ${count} below it`)
  }
}

/** A node cannot be moved below itself. */
export class NodeCycle extends Error {
  readonly code = 'node_cycle'
  constructor(node: NodeId, parent: NodeId) {
    super(
      node === parent ? `node ${node} cannot be its own parent` : `node ${parent} is below node ${node}, not above it`,
    )
  }
}

/** The value, or the list, that a pid names is not there any more. */
export class PidGone extends Error {
  readonly code = 'gone'
  readonly remedy = 'begin again, without start and pid'
}

/** The key has a value already. */
export class ValueThere extends Error {
  readonly code = 'precondition_failed'
  constructor(node: NodeId, key: string) {
    super(`node ${node} has a value under the key "${key}" already`)
  }
}

/** It was changed since the caller has read it. */
export class VersionChanged extends Error {
  readonly code = 'precondition_failed'
  readonly remedy = 'read it again, and send the ETag of what you read'
  constructor(what: string, expected: string) {
    super(`${what} was changed since version ${expected}`)
  }
}

/** The value would grow beyond what is kept. */
export class ValueTooLarge extends Error {
  readonly code = 'too_large'
  constructor(key: string, most: number) {
    super(`the value of "${key}" would be larger than ${most} bytes`)
  }
}

/** A token that is limited to one node asked for something else. */
export class OutOfReach extends Error {
  readonly code = 'forbidden'
  readonly remedy: string
  constructor(limit: NodeId, beyond: NodeId, reach: Reach) {
    super(`node ${beyond} is out of reach: with the token of node ${limit} this is for ${reached[reach](limit)} alone`)
    this.remedy =
      reach === 'with parent'
        ? `name one of these, or use a token that is not limited to node ${limit}`
        : `name node ${limit} or a node below it; of its parent the token only reads the node, edits it and waits for it`
  }
}

const reached = {
  'with parent': (node) => `its parent, node ${node} itself and the nodes below it`,
  'itself and below': (node) => `node ${node} itself and the nodes below it`,
  below: (node) => `the nodes below node ${node}`,
} as const satisfies Record<Reach, (node: NodeId) => string>

const some = (ids: readonly NodeId[]) =>
  ids.length > 10 ? `${ids.slice(0, 10).join(', ')} and ${ids.length - 10} more` : ids.join(', ')
