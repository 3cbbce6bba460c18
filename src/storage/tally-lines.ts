import type { OutputRun, OutputSize } from './output.ts'

const LINE_FEED = 10

/**
 * What tells an error from other lines is a guess: these words, unless a number or a word before them says that there is
 * none. It is looked for in each chunk by itself, so a word that two chunks share is passed over.
 */
const ERROR =
  /(?<!\b(?:0|no|without|ignor\w*) )\b(?:error|fatal|panic|exception|traceback|segmentation fault|core dumped|failed|failure)\b(?![-_\w]|s?:? ?(?:0\b|none\b))/i

/** Line feeds up to the end of a chunk, given those before it; and where a line in it looks like an error. */
export function tallyLines(
  bytes: Buffer,
  runs: readonly OutputRun[],
  before: OutputSize,
): { readonly lines: OutputSize; readonly errorAt: number | null } {
  const lines = { ...before }
  let at = 0
  for (const { stream, of = stream, length } of runs) {
    const count = countLineFeeds(bytes.subarray(at, at + length))
    at += length
    lines.mixed += count
    if (of !== 'mark') lines[of] += count
  }
  const errorAt = runs.every(({ stream }) => stream === 'mark') ? -1 : bytes.toString('latin1').search(ERROR)
  return { lines, errorAt: errorAt < 0 ? null : errorAt }
}

export function countLineFeeds(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}

export const looksLikeError = (text: string): boolean => ERROR.test(text)
