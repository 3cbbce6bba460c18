// What the keys mean in the loom.

export type Command =
  | { readonly do: 'move'; readonly columns: number; readonly rows: number; readonly isExtending: boolean }
  | { readonly do: 'page'; readonly way: 1 | -1; readonly isExtending: boolean }
  | { readonly do: 'edge'; readonly to: 'first' | 'last' | 'top' | 'bottom' }
  | {
      readonly do:
        | 'open'
        | 'blocker'
        | 'dependant'
        | 'next failure'
        | 'previous failure'
        | 'frontier'
        | 'choose'
        | 'retry'
        | 'cancel'
        | 'log'
        | 'timeline'
        | 'leave'
    }

type Pressed = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>

const ways: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const letters: Readonly<Record<string, Command>> = {
  Enter: { do: 'open' },
  b: { do: 'blocker' },
  d: { do: 'dependant' },
  n: { do: 'next failure' },
  p: { do: 'previous failure' },
  '.': { do: 'frontier' },
  x: { do: 'choose' },
  ' ': { do: 'choose' },
  r: { do: 'retry' },
  c: { do: 'cancel' },
  l: { do: 'log' },
  t: { do: 'timeline' },
  Escape: { do: 'leave' },
}

/** The keys and what they do, for the legend. */
export const keyHelp: readonly (readonly [keys: string, does: string])[] = [
  ['← ↑ ↓ →', 'move'],
  ['Enter', 'open'],
  ['b', 'what blocks it'],
  ['d', 'what depends on it'],
  ['n p', 'next, previous failure'],
  ['.', 'to the frontier'],
  ['x', 'select'],
  ['Shift ↓', 'select a range'],
  ['r', 'retry'],
  ['c', 'cancel'],
  ['l', 'log'],
  ['t', 'timeline of the revision'],
]

export function commandOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): Command | undefined {
  if (metaKey || altKey) return undefined
  if (key === 'Home') return { do: 'edge', to: ctrlKey ? 'top' : 'first' }
  if (key === 'End') return { do: 'edge', to: ctrlKey ? 'bottom' : 'last' }
  if (ctrlKey) return undefined
  const way = ways[key]
  if (way !== undefined) return { do: 'move', columns: way[0], rows: way[1], isExtending: shiftKey }
  if (key === 'PageDown' || key === 'PageUp')
    return { do: 'page', way: key === 'PageDown' ? 1 : -1, isExtending: shiftKey }
  return shiftKey ? undefined : letters[key]
}
