// Of a refusal of many items, which one it is about. It is looked for afterwards: adding does not keep count for it.
import { type AddItem, type CancelRef, checkOptions, type RequirementRef, toCondition } from './add-options.ts'
import { InvalidOption, KeyConflict, MillraceError, TaskNotFound, UnknownKind } from './errors.ts'

/** The same refusal, with the item that it is about in its message. */
export function withItem(error: unknown, items: readonly AddItem[]): unknown {
  if (!(error instanceof MillraceError)) return error
  const at = items.findIndex((item) => isAbout(error, item))
  if (at >= 0) error.message += ` (item ${at})`
  return error
}

function isAbout(error: MillraceError, item: AddItem): boolean {
  if (error instanceof UnknownKind) return item.worker === error.kind
  if (error instanceof TaskNotFound) return refersTo(item, error.task)
  if (error instanceof KeyConflict)
    return error.message.startsWith(`key ${item.key} of scope ${item.scope ?? 'default'} `)
  return error instanceof InvalidOption && isInvalid(item)
}

function refersTo({ requires = [], cancels = [] }: AddItem, task: string): boolean {
  const nameOf = (of: RequirementRef | CancelRef) =>
    typeof of === 'string' ? of : 'item' in of ? `item ${of.item} of this call` : of.task
  return [...requires, ...cancels].some((of) => nameOf(of) === task)
}

function isInvalid(item: AddItem): boolean {
  try {
    checkOptions(item)
    for (const required of item.requires ?? [])
      if (typeof required === 'object') toCondition(required.when ?? 'succeeded')
    return false
  } catch {
    return true
  }
}
