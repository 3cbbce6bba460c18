import { isStorable } from '../engine/index.ts'
import type { Flaw } from './errors.ts'

/** Keys whose values hold a character that the database cannot store. */
export function unstorable(data: Readonly<Record<string, unknown>>, at: string): Flaw[] {
  return Object.entries(data)
    .filter(([key, value]) => !isStorable(JSON.stringify(key)) || !isStorable(JSON.stringify(value) ?? ''))
    .map(([key]) => ({
      pointer: `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: 'contains a character that cannot be stored (U+0000 or half a surrogate pair)',
    }))
}
