// What may happen to a graph, as plain data that fast-check can shrink. Tasks, leases and dispatchers are chosen by a
// number that is taken modulo what there is when the command runs.
import fc from 'fast-check'
import type { Condition } from '../../src/engine/index.ts'

export type Required = { readonly pick: number; readonly when: Condition }

export type Item = {
  readonly isMilestone: boolean
  readonly kind: 0 | 1
  readonly priority: number
  readonly maxAttempts: number
  readonly requires: readonly Required[]
  readonly cancels: readonly number[]
  readonly locks: readonly string[]
  readonly limit: number
  readonly isHeld: boolean
  readonly isEarly: boolean
}

/** A hop is a finish that claims in the same step. */
export const outcomes = [
  'finish',
  'hop',
  'callback',
  'unchanged',
  'fail',
  'advisory',
  'transient',
  'later',
  'handBack',
  'stop',
] as const
export type OutcomeName = (typeof outcomes)[number]

export const verbs = ['cancel', 'hold', 'release', 'skip', 'retry', 'rerun', 'succeed', 'prioritize'] as const
export type VerbName = (typeof verbs)[number]

/** The priority that is given with a pick: among, before and behind those that tasks are added with. */
export const priorityOf = (pick: number): number => (pick % 5) - 1

export type Command =
  | { readonly type: 'add'; readonly items: readonly Item[] }
  | { readonly type: 'require' | 'rewire'; readonly pick: number; readonly requires: readonly Required[] }
  | { readonly type: 'claim'; readonly dispatcher: number; readonly limit: number }
  | {
      readonly type: 'outcome'
      readonly name: OutcomeName
      readonly pick: number
      /** Of all leases there ever were, not only of those that stand. */
      readonly isAny: boolean
      readonly isDelayed: boolean
      readonly requires: readonly Required[]
    }
  | { readonly type: 'verb'; readonly name: VerbName; readonly pick: number; readonly isAny: boolean }
  | { readonly type: 'expire'; readonly dispatcher: number }
  | { readonly type: 'passTime' }

const pick = fc.nat({ max: 999 })
const seldom = (in100: number) => fc.nat({ max: 99 }).map((n) => n >= 100 - in100)
const required = fc.record({
  pick,
  when: fc.oneof(
    { arbitrary: fc.constant<Condition>('succeeded'), weight: 4 },
    { arbitrary: fc.constantFrom<Condition>('failed', 'finished'), weight: 2 },
  ),
})

const item: fc.Arbitrary<Item> = fc.record({
  isMilestone: seldom(20),
  kind: fc.constantFrom<0 | 1>(0, 1),
  priority: fc.nat({ max: 2 }),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  requires: fc.array(required, { maxLength: 3 }),
  cancels: fc.oneof(
    { arbitrary: fc.constant([]), weight: 4 },
    { arbitrary: fc.array(pick, { minLength: 1, maxLength: 2 }), weight: 1 },
  ),
  locks: fc.oneof(
    { arbitrary: fc.constant([]), weight: 3 },
    { arbitrary: fc.subarray(['x', 'y'], { minLength: 1 }), weight: 1 },
  ),
  limit: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, { arbitrary: fc.integer({ min: 1, max: 2 }), weight: 1 }),
  isHeld: seldom(7),
  isEarly: seldom(7),
})

export const add = fc.record({
  type: fc.constant('add' as const),
  items: fc.array(item, { minLength: 1, maxLength: 4 }),
})

const outcomeName = fc.oneof(
  { arbitrary: fc.constantFrom<OutcomeName>('finish', 'hop', 'callback'), weight: 8 },
  { arbitrary: fc.constantFrom<OutcomeName>(...outcomes), weight: 7 },
)

export const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: add, weight: 4 },
  {
    arbitrary: fc.record({
      type: fc.constant('require' as const),
      pick,
      requires: fc.array(required, { minLength: 1, maxLength: 2 }),
    }),
    weight: 3,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('rewire' as const),
      pick,
      requires: fc.array(required, { maxLength: 2 }),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('claim' as const),
      dispatcher: fc.nat({ max: 2 }),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
    weight: 7,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('outcome' as const),
      name: outcomeName,
      pick,
      isAny: seldom(20),
      isDelayed: fc.boolean(),
      requires: fc.array(required, { maxLength: 2 }),
    }),
    weight: 10,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('verb' as const),
      name: fc.constantFrom<VerbName>(...verbs),
      pick,
      isAny: seldom(12),
    }),
    weight: 9,
  },
  { arbitrary: fc.record({ type: fc.constant('expire' as const), dispatcher: fc.nat({ max: 2 }) }), weight: 1 },
  { arbitrary: fc.record({ type: fc.constant('passTime' as const) }), weight: 1 },
)

/** A graph with a history: it begins with an add, so that there is something to act on. */
export const commands: fc.Arbitrary<Command[]> = fc
  .tuple(add, fc.array(command, { maxLength: 30, size: 'max' }))
  .map(([first, rest]) => [first, ...rest])

export const plain: Item = {
  isMilestone: false,
  kind: 0,
  priority: 0,
  maxAttempts: 3,
  requires: [],
  cancels: [],
  locks: [],
  limit: 0,
  isHeld: false,
  isEarly: false,
}
/** How many a hop claims at most. */
export const HOP = 2
export const claim: Command = { type: 'claim', dispatcher: 1, limit: 1 }
export const outcome = (name: OutcomeName, isAny = false): Command => ({
  type: 'outcome',
  name,
  pick: 0,
  isAny,
  isDelayed: false,
  requires: [],
})

const afterFirst = { ...plain, requires: [{ pick: 0, when: 'succeeded' as const }] }

function hopsFrom(...graphs: { items: Item[]; claims?: number }[]): [Command[]][] {
  return graphs.map(({ items, claims = 1 }) => [
    [{ type: 'add', items }, ...Array.from({ length: claims }, () => claim), outcome('hop'), outcome('hop')],
  ])
}

/**
 * Stories too long to be met by chance in every run: a token of an earlier claim, offered by the same dispatcher; a task
 * that is released and superseded by the same success; a chain.
 */
export const stories: [Command[]][] = [
  [[{ type: 'add', items: [plain] }, claim, outcome('handBack'), claim, outcome('finish', true), outcome('finish')]],
  [
    [
      { type: 'add', items: [plain] },
      claim,
      outcome('transient'),
      claim,
      outcome('callback', true),
      outcome('callback'),
    ],
  ],
  [[{ type: 'add', items: [plain, afterFirst, { ...afterFirst, cancels: [1] }] }, claim, outcome('finish')]],
  // What a hop may not pass over.
  ...hopsFrom(
    { items: [plain, afterFirst] },
    { items: [plain, { ...afterFirst, locks: ['x'] }] },
    {
      items: [
        { ...plain, locks: ['x'] },
        { ...plain, locks: ['x'] },
      ],
    },
    {
      items: [plain, plain, { ...afterFirst, requires: [...afterFirst.requires, { pick: 1, when: 'succeeded' }] }],
      claims: 2,
    },
    { items: [plain, { ...afterFirst, isHeld: true }] },
    { items: [plain, { ...afterFirst, isEarly: true }] },
    { items: [plain, plain, { ...afterFirst, cancels: [1] }], claims: 2 },
    { items: [plain, { ...plain, requires: [{ pick: 0, when: 'failed' }] }] },
    { items: [plain, { ...afterFirst, kind: 1 }] },
    { items: [plain, plain, afterFirst] },
  ),
  [
    [
      { type: 'add', items: [plain, afterFirst] },
      claim,
      outcome('handBack'),
      claim,
      outcome('hop', true),
      outcome('hop'),
    ],
  ],
  [[{ type: 'add', items: [plain] }, claim, { type: 'verb', name: 'cancel', pick: 0, isAny: false }, outcome('hop')]],
  [
    [
      { type: 'add', items: [plain, afterFirst] },
      claim,
      outcome('hop'),
      outcome('hop'),
      { type: 'verb', name: 'rerun', pick: 0, isAny: false },
      claim,
      outcome('hop'),
    ],
  ],
]
