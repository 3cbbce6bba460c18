/** The task inside which a command line runs, and how it reaches whoever performs it. */
export type OwnTask = {
  /** The socket at which its workspace is committed; undefined: it has none. */
  readonly commitSocket: string | undefined
  readonly token: string
}

/** What the environment says about the task inside which this runs; undefined when it runs in none. */
export function readOwnTask(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): OwnTask | undefined {
  const { MILLRACE_TASK_ID, MILLRACE_COMMIT_SOCKET, MILLRACE_TOKEN } = environment
  if (!MILLRACE_TASK_ID || !MILLRACE_TOKEN) return undefined
  return { commitSocket: MILLRACE_COMMIT_SOCKET || undefined, token: MILLRACE_TOKEN }
}
