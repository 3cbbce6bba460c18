// Escape sequences of terminals, as far as a log needs them: colours, weight, links. Everything else is taken out, and
// characters that would change how the rest is read are shown by name. The result is text and classes, never markup.

export type Pen = {
  /** 0 to 15 by number, else `rgb(…)`. */
  readonly ink?: number | string
  readonly ground?: number | string
  readonly isBold?: boolean
  readonly isDim?: boolean
  readonly isItalic?: boolean
  readonly isUnderlined?: boolean
  readonly isStruck?: boolean
  readonly isReversed?: boolean
  /** Where it leads: http and https only. */
  readonly href?: string
}

export type Segment = {
  readonly text: string
  /** Where it stands in the line as it was written, and how much of that it is. */
  readonly at: number
  readonly length: number
  readonly pen: Pen
  /** A character that is not to be seen, by name. */
  readonly isHidden?: boolean
}

export const plainPen: Pen = {}

/** Sequences of CSI and OSC, other sequences of escape, controls, and what turns the direction of reading. */
const SPECIAL = new RegExp(
  [
    String.raw`\u001b(?:\[([0-?]*)[ -/]*([@-~])|\]([^\u0007\u001b]*)(?:\u0007|\u001b\\)?|[ -/]*[0-Z\\^-~])`,
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]`,
  ].join('|'),
  'g',
)

/** The parts of a text, and the pen that the next text begins with. */
export function readAnsi(text: string, pen: Pen = plainPen, offset = 0): { segments: Segment[]; pen: Pen } {
  const segments: Segment[] = []
  let now = pen
  let from = 0
  const take = (to: number) => {
    if (to > from) segments.push({ text: text.slice(from, to), at: offset + from, length: to - from, pen: now })
  }
  for (const found of text.matchAll(SPECIAL)) {
    const [whole, numbers, final, command] = found
    take(found.index)
    from = found.index + whole.length
    if (final === 'm') now = applySgr(now, numbers ?? '')
    else if (command !== undefined) now = applyLink(now, command)
    else if (whole.length === 1) {
      segments.push({ text: nameOf(whole), at: offset + found.index, length: 1, pen: now, isHidden: true })
    }
  }
  take(text.length)
  return { segments, pen: now }
}

/** Controls by their pictures (␇), what turns the direction of reading by its number. */
function nameOf(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '␡' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

function applyLink(pen: Pen, command: string): Pen {
  const target = /^8;[^;]*;(.*)$/.exec(command)?.[1]
  if (target === undefined) return pen
  const { href: _, ...rest } = pen
  return isSafe(target) ? { ...rest, href: target } : rest
}

function isSafe(target: string): boolean {
  return /^https?:\/\//i.test(target) && URL.canParse(target)
}

type Reset = (keyof Pen)[]
const RESETS: Readonly<Record<number, Reset>> = {
  22: ['isBold', 'isDim'],
  23: ['isItalic'],
  24: ['isUnderlined'],
  27: ['isReversed'],
  29: ['isStruck'],
  39: ['ink'],
  49: ['ground'],
}
const FLAGS: Readonly<Record<number, keyof Pen>> = {
  1: 'isBold',
  2: 'isDim',
  3: 'isItalic',
  4: 'isUnderlined',
  7: 'isReversed',
  9: 'isStruck',
}

function applySgr(pen: Pen, numbers: string): Pen {
  // `38:2::1:2:3` is the same as `38;2;1;2;3`, with an unused place.
  const codes = numbers
    .replace(/(38|48):2::/g, '$1:2:')
    .split(/[;:]/)
    .map((part) => (part === '' ? 0 : Number(part)))
  let next: Pen = pen
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(i + 1))
      i += used
      if (colour !== undefined) next = { ...next, [code === 38 ? 'ink' : 'ground']: colour }
    } else next = applyCode(next, code)
  }
  return next
}

function applyCode(pen: Pen, code: number): Pen {
  if (code === 0) return pen.href === undefined ? plainPen : { href: pen.href }
  const flag = FLAGS[code]
  if (flag !== undefined) return { ...pen, [flag]: true }
  const reset = RESETS[code]
  if (reset !== undefined) {
    return Object.fromEntries(Object.entries(pen).filter(([name]) => !reset.includes(name as keyof Pen)))
  }
  if (code >= 30 && code <= 37) return { ...pen, ink: code - 30 }
  if (code >= 40 && code <= 47) return { ...pen, ground: code - 40 }
  if (code >= 90 && code <= 97) return { ...pen, ink: code - 82 }
  if (code >= 100 && code <= 107) return { ...pen, ground: code - 92 }
  return pen
}

/** A colour of the table of 256 or a true one, and how many numbers it took. */
function extended([type, a = 0, b = 0, c = 0]: readonly number[]): [number | string | undefined, number] {
  const isByte = (value: number) => Number.isInteger(value) && value >= 0 && value <= 255
  if (type === 2) return [[a, b, c].every(isByte) ? `rgb(${a} ${b} ${c})` : undefined, 4]
  if (type === 5) return [isByte(a) ? ofTable(a) : undefined, 2]
  return [undefined, 1]
}

const LEVELS = [0, 95, 135, 175, 215, 255]

function ofTable(index: number): number | string {
  if (index < 16) return index
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return `rgb(${grey} ${grey} ${grey})`
  }
  const cube = index - 16
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6]
  return `rgb(${LEVELS[red]} ${LEVELS[green]} ${LEVELS[blue]})`
}
