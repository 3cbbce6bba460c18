// The texts of answers, kept beside what was read from them: JavaScript's numbers alter large ones.
import { replaceEqualDeep } from '@tanstack/react-query'

const texts = new WeakMap<object, string>()

/** Reads JSON, and keeps its text. */
export function readExactly(text: string): unknown {
  const body: unknown = JSON.parse(text)
  if (isObject(body)) texts.set(body, text)
  return body
}

/** The JSON of an answer exactly as it was sent. */
export const textOf = (body: object): string => texts.get(body) ?? JSON.stringify(body)

/** Keeps the parts of what was known that are the same in what came, as queries do, and the text of what came with it. */
export function shareExactly(old: unknown, next: unknown): unknown {
  const shared: unknown = replaceEqualDeep(old, next)
  if (!isObject(shared) || !isObject(next)) return shared
  const text = texts.get(next)
  if (text === undefined || text === texts.get(shared)) return shared
  // The same numbers to JavaScript, and others as they are written: only another object is drawn again.
  if (shared === old) return next
  texts.set(shared, text)
  return shared
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
