// Names and messages come from whoever added a task. What would move the cursor, recolour the screen or reverse the
// direction of writing is not passed on to a terminal.
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** The text in one line, without what a terminal would take for a command. */
export function clean(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]+/g, ' ').replace(UNPRINTABLE, '\ufffd')
}

/** The text with its lines kept, without what a terminal would take for a command. */
export function cleanLines(text: string): string[] {
  return text.split(/\r?\n/).map(clean)
}

const PAINT = new RegExp(`(${'\u001b'}\\[[\\d;]*m)`)
const ALL_PAINT = new RegExp(PAINT, 'g')
// Letters of Europe and the signs that this program draws itself: one cell each.
const ONE_CELL_EACH =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u052f\u2010-\u2027\u2190-\u21ff\u2200-\u22ff\u2500-\u25ff\u2713\u2717]*$/

let measure: ((text: string) => number) | undefined
let segmenter: Intl.Segmenter | undefined

/**
 * Makes widths right for these texts. Emoji, Chinese, combining signs need tables that take longer to load than
 * everything else together, so they are loaded when such a text is there.
 */
export async function prepareWidths(texts: Iterable<string>): Promise<void> {
  if (measure !== undefined) return
  for (const text of texts) {
    if (ONE_CELL_EACH.test(text.replace(ALL_PAINT, ''))) continue
    const { default: stringWidth } = await import('string-width')
    measure = stringWidth
    return
  }
}

/** Cells that the text takes on a terminal. Colours take none. */
export function widthOf(text: string): number {
  const bare = text.replace(ALL_PAINT, '')
  return measure === undefined || ONE_CELL_EACH.test(bare) ? bare.length : measure(bare)
}

/** The text in at most `width` cells; what is left out is marked. Colours in it are kept, and ended where they were. */
export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  if (width <= 0) return ''
  segmenter ??= new Intl.Segmenter()
  let kept = ''
  let left = width - 1
  let isFull = false
  for (const [at, part] of text.split(PAINT).entries()) {
    // Every second part is what the pattern caught.
    if (at % 2 === 1) {
      kept += part
      continue
    }
    for (const { segment } of isFull ? [] : segmenter.segment(part)) {
      const more = widthOf(segment)
      isFull = more > left
      kept += isFull ? '…' : segment
      if (isFull) break
      left -= more
    }
  }
  return kept
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const gap = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + gap : gap + text
}

export const count = (many: number, one: string, several = `${one}s`) => `${many} ${many === 1 ? one : several}`
