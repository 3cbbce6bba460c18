// Texts with a grammar of their own. What a check finds travels in the issue's parameters, with its place in the text.
import { z } from 'zod'
import { splitCommand } from './command-words.ts'
import { parseDuration, suggestDuration } from './duration.ts'
import type { FindingCode } from './finding.ts'
import { isGlobProblem, parseGlob, parseTextGlob } from './glob.ts'
import { findImageProblem } from './image.ts'
import { findNameProblem, findVariableProblem, INPUT_PATTERN, parseReference, suggestName } from './names.ts'
import { isConditionProblem, parseCondition } from './parse-condition.ts'

/** What a check finds in a text; `at` and `length` say which part of it. */
export type TextProblem = {
  readonly code: FindingCode
  readonly message: string
  readonly suggestion?: string | undefined
  readonly at?: number
  readonly length?: number
}

/** Text that passes a check; `expected` says what it is, for those who give something else. */
function text(expected: string, check: (value: string) => TextProblem | undefined) {
  return z.string({ error: expected }).superRefine((value, context) => {
    const problem = check(value)
    if (problem) context.addIssue({ code: 'custom', message: problem.message, params: { problem } })
  })
}

export const name = text('a name', (value) => {
  const message = findNameProblem(value)
  const meant = suggestName(value)
  return message ? { code: 'bad-name', message, suggestion: meant && `write ${meant}` } : undefined
})

export const duration = text('a duration such as 90s, 10m or 2h', (value) => {
  const seconds = parseDuration(value)
  if (seconds === undefined) {
    const meant = suggestDuration(value)
    const message = `"${value}" is not a duration such as 90s, 10m, 2h or 1h30m`
    return { code: 'bad-duration', message, suggestion: meant && `write ${meant}` }
  }
  if (seconds >= 1 && seconds <= 30 * 86_400) return undefined
  return { code: 'out-of-range', message: `a timeout lasts between 1s and 30d, not ${value}` }
})

export const reference = text('a task', (value) => {
  if (parseReference(value, 'x') !== undefined) return undefined
  const message = `"${value}" is neither the name of a task nor PREV nor PREV:name`
  const meant = suggestName(value.replace(/^PREV\s*[:.@/-]?\s*/i, ''))
  return {
    code: 'bad-reference',
    message,
    suggestion: meant && `write ${/^PREV\b/i.test(value) ? 'PREV:' : ''}${meant}`,
  }
})

export const pathGlob = text('a pattern such as "chapters/**"', (value) => {
  const glob = parseGlob(value)
  return isGlobProblem(glob) ? { code: 'bad-glob', ...glob } : undefined
})

export const textGlob = text('a name or a pattern such as "*@example.org"', (value) => {
  const glob = parseTextGlob(value)
  return isGlobProblem(glob) ? { code: 'bad-glob', ...glob } : undefined
})

export const artifact = text('a pattern such as "out/*.pdf"', (value) => {
  if (/^[\\/~]|^[A-Za-z]:|(^|[\\/])\.\.([\\/]|$)/.test(value)) {
    const suggestion = 'name files below the workspace, without .. and a leading slash'
    return { code: 'artifact-escapes', message: `"${value}" lies outside the workspace`, suggestion }
  }
  const glob = parseGlob(value)
  return isGlobProblem(glob) ? { code: 'bad-glob', ...glob } : undefined
})

export const variable = text('the name of a variable', (value) => {
  const message = findVariableProblem(value)
  return message ? { code: 'bad-env-name', message: `"${value}": ${message}` } : undefined
})

export const inputName = text('the name of an input', (value) => {
  if (new RegExp(INPUT_PATTERN).test(value)) return undefined
  const rule = 'the name of an input consists of letters, digits, "_" and "-", and does not begin with a digit'
  return { code: 'bad-env-name', message: `"${value}": ${rule}` }
})

export const image = text('an image such as registry/path:tag', (value) => {
  const message = findImageProblem(value)
  if (message === undefined) return undefined
  const meant = value.toLowerCase()
  const isMeant = meant !== value && findImageProblem(meant) === undefined
  return { code: 'bad-image', message, suggestion: isMeant ? `write ${meant}` : undefined }
})

export const script = text('the text of a script', (value) =>
  value.trim() === '' ? { code: 'bad-command', message: 'the script is empty' } : undefined,
)

export const commandLine = text('a command', (value) => {
  const { words, openQuote } = splitCommand(value)
  if (openQuote !== undefined)
    return { code: 'bad-command', message: 'the quote is not closed', at: openQuote, length: 1 }
  return words.length > 0 && words[0] !== '' ? undefined : { code: 'bad-command', message: 'the command is empty' }
})

export const condition = text('a condition such as trigger == "commit"', (value) => {
  const parsed = parseCondition(value)
  return isConditionProblem(parsed) ? { code: 'bad-condition', ...parsed } : undefined
})
