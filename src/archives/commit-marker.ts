// The marker of a commit that a task made. It begins with the task's name, by which `cause.ts` knows where a revision came
// from; the rest is for the task itself, which finds what an earlier attempt of it has committed.

export type CommitMarker = {
  /** As people name it: `My-Project@12:index`. */
  readonly name: string
  /** The installation whose task it is: another one may watch the same repository. */
  readonly by: string
  readonly task: string
  /** Which of the commits of one attempt. */
  readonly commit: number
  readonly attempt: number
  /** How many machine commits led to the revision, with this one. */
  readonly depth: number
}

const FORM = /^(.+) by=([\w.-]*) task=(\d{1,19}) commit=(\d{1,6}) attempt=(\d{1,9}) depth=(\d{1,6})$/

export function formatMarker({ name, by, task, commit, attempt, depth }: CommitMarker): string {
  return `${name} by=${by} task=${task} commit=${commit} attempt=${attempt} depth=${depth}`
}

/** Undefined for what is no marker of a task. */
export function parseMarker(marker: string): CommitMarker | undefined {
  const [, name, by, task, commit, attempt, depth] = FORM.exec(marker) ?? []
  if (name === undefined || by === undefined || task === undefined) return undefined
  return { name, by, task, commit: Number(commit), attempt: Number(attempt), depth: Number(depth) }
}
