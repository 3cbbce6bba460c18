const MASK = Buffer.from('***')
const NOTHING = Buffer.alloc(0)
const SHORTEST_LINE = 8 // shorter lines of a secret, such as a brace, would mask what is none

/** Replaces secrets in one stream of bytes. What may be the beginning of one is kept back until it is known. */
export type Masker = {
  push(bytes: Buffer): Buffer
  /** The bytes still kept back: no more follow. */
  end(): Buffer
}

/**
 * Every byte that is part of a secret is replaced: overlapping occurrences together by one `***`. The result does not
 * depend on how the stream was cut. Of a secret with several lines each longer line counts as well, because programs
 * print them apart; the white space around it does not count.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const patterns = toPatterns(secrets)
  if (patterns.length === 0) return { push: (bytes) => bytes, end: () => NOTHING }
  let held: Buffer = NOTHING
  let covered = 0 // bytes at the beginning of `held` that the last `***` stands for

  const mask = (text: Buffer, keep: number) => {
    const parts: Buffer[] = []
    let done = covered
    for (const { start, end } of findAll(text, patterns)) {
      if (start >= keep) break
      if (start >= done) parts.push(text.subarray(done, start), MASK)
      done = Math.max(done, end)
    }
    if (done < keep) parts.push(text.subarray(done, keep))
    held = Buffer.from(text.subarray(keep)) // a copy: the rest of `text` may go
    covered = Math.max(0, done - keep)
    return parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts)
  }
  const withHeld = (bytes: Buffer) => (held.length === 0 ? bytes : Buffer.concat([held, bytes]))

  return {
    push(bytes) {
      const text = withHeld(bytes)
      return mask(text, beginningOfPart(text, patterns))
    },
    end: () => mask(held, held.length),
  }
}

function toPatterns(secrets: readonly string[]): Buffer[] {
  const forms = secrets.flatMap((secret) => {
    const lines = secret.split('\n').map((line) => line.trim())
    return [secret.trim(), ...(lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : [])]
  })
  return [...new Set(forms)].filter((form) => form !== '').map((form) => Buffer.from(form))
}

type Span = { readonly start: number; readonly end: number }

function findAll(text: Buffer, patterns: readonly Buffer[]): Span[] {
  const spans: Span[] = []
  for (const pattern of patterns)
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1))
      spans.push({ start: at, end: at + pattern.length })
  return spans.sort((a, b) => a.start - b.start)
}

/** Where the earliest unfinished pattern begins that reaches the end of the text; the text's length when there is none. */
function beginningOfPart(text: Buffer, patterns: readonly Buffer[]): number {
  let earliest = text.length
  for (const pattern of patterns) {
    const first = pattern.subarray(0, 1)
    let at = text.indexOf(first, Math.max(0, text.length - pattern.length + 1))
    while (at >= 0 && at < earliest) {
      if (pattern.subarray(0, text.length - at).equals(text.subarray(at))) earliest = at
      at = text.indexOf(first, at + 1)
    }
  }
  return earliest
}
