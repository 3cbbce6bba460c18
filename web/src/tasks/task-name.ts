// What a task is called, and where it belongs.

type Named = { readonly id: string; readonly scope: string; readonly key: string | null }

/** `My-Project@12:index`, `scope/key`, or its number: what can be written wherever a task is asked for. */
export function nameOfTask({ id, scope, key }: Named): string {
  if (key === null) return id
  const archive = archiveOf(scope)
  return archive !== undefined && key.includes(':') ? `${archive}@${key}` : `${scope}/${key}`
}

/** The same where tasks are listed; one without a key is told by its scope too, and not by a bare number. */
export const listedName = (task: Named): string => (task.key === null ? `${task.scope} ${task.id}` : nameOfTask(task))

/** Where all that is shown is of one archive, whose name stands above: `12:index`. */
export const nameInArchive = (task: Named): string => task.key ?? listedName(task)

export const archiveOf = (scope: string): string | undefined => /^archive:(.+)$/s.exec(scope)?.[1]

export type TaskHome =
  | { readonly is: 'archive'; readonly archive: string; readonly rev: string; readonly task: string }
  | { readonly is: 'node'; readonly node: string }
  | { readonly is: 'other' }

/** What part of Millrace a task is of. */
export function homeOf({ scope, key }: Named): TaskHome {
  const archive = archiveOf(scope)
  const [, rev, task] = /^(\d+):(.+)$/s.exec(key ?? '') ?? []
  if (archive !== undefined && rev !== undefined && task !== undefined) return { is: 'archive', archive, rev, task }
  if (scope === 'node' && key !== null) return { is: 'node', node: key }
  return { is: 'other' }
}
