export type Table = { readonly [state: string]: { readonly [event: string]: string } }

type State<T extends Table> = keyof T & string
type Event<T extends Table> = { [S in keyof T]: keyof T[S] & string }[keyof T]
/** Every target must itself be a row of the table. */
type Closed<T extends Table> = {
  [S in keyof T]: { [E in keyof T[S]]: T[S][E] extends State<T> ? T[S][E] : never }
}

/**
 * A state machine written as the table that is its diagram: one row per state, one entry per event.
 * The type of the states, the final states and the drawing are all derived from it.
 */
export function machine<const T extends Table>(table: T & Closed<T>) {
  const states = Object.keys(table) as State<T>[]
  return {
    states,
    /** States that accept no event: the work is over. */
    final: states.filter((state) => Object.keys(table[state] ?? {}).length === 0),
    /** Where `event` leads from `state`, or undefined when it is not allowed there. */
    next: (state: State<T>, event: Event<T>): State<T> | undefined => table[state]?.[event] as State<T> | undefined,
    /** The states from which `event` is allowed. */
    from: (event: Event<T>): State<T>[] => states.filter((state) => event in (table[state] ?? {})),
    mermaid: () =>
      [
        'stateDiagram-v2',
        ...states.flatMap((state) =>
          Object.entries(table[state] ?? {}).map(([event, to]) => `  ${state} --> ${to}: ${event}`),
        ),
      ].join('\n'),
  }
}
