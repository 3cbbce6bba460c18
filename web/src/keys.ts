// The keys of the keyboard. The shell and the screens say which keys they have; the help lists them, the palette offers them
// as actions, and one listener runs them. A key of a screen comes before one of the shell.
import { useLayoutEffect, useRef, useSyncExternalStore } from 'react'

export type Key = {
  /**
   * What is pressed: `r`, `?`, `Enter`, `ArrowDown`, two in a row as `g o`, or with Ctrl (Command on a Mac) as `Mod+k`.
   * Without it, it is an action of the palette only.
   */
  readonly key?: string
  /** What it does, for the help and the palette: `Retry`. */
  readonly label: string
  readonly run: () => void
  /** Why it cannot be done now, in a sentence. */
  readonly refusal?: string | undefined
  /** Left out of the palette: it only moves about within the screen. */
  readonly isMove?: boolean
}

export type KeyGroup = { readonly title: string; readonly keys: readonly Key[] }

export type Press = { readonly key: string; readonly code: string; readonly isMod: boolean; readonly isAlt: boolean }

/** So long after the first of two keys the second still counts. */
const SEQUENCE_MS = 1_500
const KEPT = 'millrace-letter-keys'

/** Which key is meant by a press, in the words of `Key`. On a keyboard of another script the letter's place counts. */
export function nameOf({ key, code, isMod }: Press): string {
  const isForeign = key.length === 1 && key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(code)
  const plain = isForeign ? code.slice(3).toLowerCase() : key.length === 1 && isMod ? key.toLowerCase() : key
  return isMod ? `Mod+${plain}` : plain
}

/** Keys of one character, which dictation software may type by mistake; they can be turned off. */
export const isLetterKey = (key: string): boolean => key.split(' ').some((part) => part.length === 1)

/** Finds what a press means among the groups, the last one first; remembers the first of two in a row. */
export class KeyReader {
  #first: { readonly name: string; readonly at: number } | undefined

  read(press: Press, groups: readonly KeyGroup[], { now, hasLetters }: { now: number; hasLetters: boolean }) {
    if (press.isAlt) return undefined
    const name = nameOf(press)
    const first = this.#first
    this.#first = undefined
    const all = [...groups]
      .reverse()
      .flatMap(({ keys }) => keys)
      .filter(({ key }) => key !== undefined && (hasLetters || !isLetterKey(key)))
    if (first !== undefined && now - first.at <= SEQUENCE_MS) {
      const both = all.find(({ key }) => key === `${first.name} ${name}`)
      if (both !== undefined) return both
    }
    const one = all.find(({ key }) => key === name)
    if (one !== undefined) return one
    if (all.some(({ key }) => key?.startsWith(`${name} `))) this.#first = { name, at: now }
    return undefined
  }
}

const reader = new KeyReader()
const watchers = new Set<() => void>()
let groups: readonly KeyGroup[] = []
let hasLetters = readChoice()

function readChoice(): boolean {
  try {
    return localStorage.getItem(KEPT) !== 'off'
  } catch {
    return true // storage is forbidden here: the choice lasts as long as the page
  }
}

function tellWatchers(): void {
  for (const watch of watchers) watch()
}

const watch = (onChange: () => void) => {
  watchers.add(onChange)
  return () => watchers.delete(onChange)
}

/** Whether keys of one character work. */
export const useLetterKeys = (): boolean => useSyncExternalStore(watch, () => hasLetters)

export function chooseLetterKeys(isOn: boolean): void {
  hasLetters = isOn
  try {
    localStorage.setItem(KEPT, isOn ? 'on' : 'off')
  } catch {
    // As above.
  }
  tellWatchers()
}

/** What can be pressed now, the shell's first. */
export const useKeyGroups = (): readonly KeyGroup[] => useSyncExternalStore(watch, () => groups)

/**
 * Gives a screen its keys while it is shown: `useKeys([{ key: 'r', label: 'Retry', run }], 'Task')`. Nothing runs while
 * somebody types, or in a dialog or a menu. `run` may be a new function at every rendering. Whoever sees the screen can press
 * them: they come with it, and not a moment later.
 */
export function useKeys(keys: readonly Key[], title = 'This screen'): void {
  const latest = useRef(keys)
  useLayoutEffect(() => {
    latest.current = keys
  })
  const look = JSON.stringify(keys.map(({ key, label, refusal, isMove }) => [key, label, refusal, isMove]))
  useLayoutEffect(() => {
    const group: KeyGroup = {
      title,
      keys: (JSON.parse(look) as unknown[]).map((_, i) => ({
        ...(latest.current[i] as Key),
        run: () => latest.current[i]?.run(),
      })),
    }
    groups = [...groups, group]
    tellWatchers()
    return () => {
      groups = groups.filter((one) => one !== group)
      tellWatchers()
    }
  }, [look, title])
}

const TYPING = 'input:not([type="checkbox"], [type="radio"], [type="button"], [type="range"]), textarea, select'
const CLOSED = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'

const ALONG: Readonly<Record<string, 'x' | 'y'>> = { ArrowUp: 'y', ArrowDown: 'y', ArrowLeft: 'x', ArrowRight: 'x' }

/** Whether a key scrolls the box that has the focus: one that can have it in order to be scrolled by keyboard. */
function isScrolledBy(place: HTMLElement, key: string): boolean {
  const along = ALONG[key]
  if (along === undefined) return false
  for (let box: HTMLElement | null = place; box !== null; box = box.parentElement) {
    if (box.tabIndex < 0) continue
    const { overflowX, overflowY } = getComputedStyle(box)
    const [overflow, hidden] =
      along === 'x' ? [overflowX, box.scrollWidth - box.clientWidth] : [overflowY, box.scrollHeight - box.clientHeight]
    if (hidden > 0 && (overflow === 'auto' || overflow === 'scroll')) return true
  }
  return false
}

/** Listens to the keyboard. Answers how to end it. Once, by the shell. */
export function startKeys(): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const press = { key: event.key, code: event.code, isMod: event.ctrlKey || event.metaKey, isAlt: event.altKey }
    const place = event.target instanceof HTMLElement ? event.target : document.body
    if (place.closest(CLOSED) !== null) return
    if (!press.isMod && (place.isContentEditable || place.matches(TYPING))) return
    // A button or a link that has the focus is pressed by these itself.
    if ((event.key === 'Enter' || event.key === ' ') && place.closest('a, button, summary') !== null) return
    if (isScrolledBy(place, event.key)) return
    const meant = reader.read(press, groups, { now: event.timeStamp, hasLetters })
    if (meant === undefined) return
    event.preventDefault()
    if (meant.refusal === undefined) meant.run()
  }
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}
