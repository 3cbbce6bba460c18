import stringWidth from 'string-width'

// Names and messages come from whoever added a task. What would move the cursor, recolour the screen or reverse the
// direction of writing is not passed on to a terminal.
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** The text in one line, without what a terminal would take for a command. */
export function clean(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]+/g, ' ').replace(UNPRINTABLE, '\ufffd')
}

/** The text with its lines kept, without what a terminal would take for a command. */
export function cleanLines(text: string): string[] {
  return text.split(/\r?\n/).map(clean)
}

const PAINT = /(\u001b\[[\d;]*m)/
const segmenter = new Intl.Segmenter()

/** The text in at most `width` cells; what is left out is marked. Colours in it are kept, and ended where they were. */
export function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  if (width <= 0) return ''
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
      const more = stringWidth(segment)
      isFull = more > left
      kept += isFull ? '…' : segment
      if (isFull) break
      left -= more
    }
  }
  return kept
}

export const widthOf = (text: string): number => stringWidth(text)

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const gap = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return align === 'left' ? text + gap : gap + text
}

export const count = (many: number, one: string, several = `${one}s`) => `${many} ${many === 1 ? one : several}`
