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

/** What the help of keys and the palette say of each; where the board has the focus, it reads the keys itself. */
export const keysOfLoom: readonly { readonly key: string; readonly label: string; readonly isMove: boolean }[] = [
  { key: 'ArrowLeft', label: 'Task to the left', isMove: true },
  { key: 'ArrowRight', label: 'Task to the right', isMove: true },
  { key: 'ArrowUp', label: 'Next newer revision', isMove: true },
  { key: 'ArrowDown', label: 'Next older revision', isMove: true },
  { key: 'Enter', label: 'Open the task', isMove: true },
  { key: 'b', label: 'Go to what blocks it', isMove: true },
  { key: 'd', label: 'Go to what depends on it', isMove: true },
  { key: 'n', label: 'Next failure', isMove: false },
  { key: 'p', label: 'Previous failure', isMove: false },
  { key: '.', label: 'Go to the frontier', isMove: true },
  { key: 'x', label: 'Select the task', isMove: true },
  { key: 'r', label: 'Retry what is selected', isMove: false },
  { key: 'c', label: 'Cancel what is selected', isMove: false },
  { key: 'l', label: 'Show the log', isMove: false },
  { key: 't', label: 'Timeline of the revision', isMove: false },
  { key: 'Escape', label: 'Let go of what is selected', isMove: true },
]

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

/** A press of one key, without any other. */
export const plainPress = (key: string): Pressed => ({
  key,
  shiftKey: false,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
})

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
