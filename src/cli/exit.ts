// Which exit code a command ends with. Scripts decide by it: a code keeps its meaning.

export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  not_found: 3,
  not_allowed: 4,
  conflict: 5,
  unreachable: 6,
  findings: 7,
  task_failed: 20,
  task_canceled: 21,
  some_failed: 22,
  timed_out: 124,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitName = keyof typeof exitCodes

/** What each code means, for the guide. */
export const exitMeanings = {
  done: 'done',
  failure: 'failure',
  usage: 'the command line, or what it asks for, cannot be understood',
  not_found: 'not found',
  not_allowed: 'not allowed, or not signed in',
  conflict: 'the state does not allow it, or another change came first',
  unreachable: 'the server cannot be reached, or cannot take work now',
  findings: 'a check found something',
  task_failed: 'a task that was waited for failed',
  task_canceled: 'a task that was waited for was canceled, superseded or skipped',
  some_failed: 'some of several did not end well',
  timed_out: 'timed out',
  interrupted: 'interrupted (Ctrl-C)',
  terminated: 'terminated (SIGTERM)',
} as const satisfies Record<ExitName, string>

/** By the stable code of an error of ours. */
const byCode: Readonly<Record<string, ExitName>> = {
  usage: 'usage',
  config_invalid: 'usage',
  contexts_unusable: 'failure',
  not_signed_in: 'not_allowed',
  context_not_found: 'not_found',
  not_a_repository: 'not_found',
  hook_not_found: 'not_found',
  hook_refused: 'conflict',
  import_refused: 'conflict',
  definition_broken: 'findings',
  unknown_workflow: 'not_found',
  unknown_workflow_task: 'not_found',
  invalid_input: 'usage',
  out_of_date: 'conflict',
  commit_refused: 'not_allowed',
  server_unreachable: 'unreachable',
  not_a_server: 'unreachable',
  timed_out: 'timed_out',
  interrupted: 'interrupted',
  left: 'interrupted',
  terminated: 'terminated',
}

/** By the status of what the server refused. */
const byStatus: Readonly<Record<number, ExitName>> = {
  400: 'usage',
  401: 'not_allowed',
  403: 'not_allowed',
  404: 'not_found',
  405: 'usage',
  406: 'usage',
  408: 'unreachable',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  413: 'usage',
  415: 'usage',
  416: 'usage',
  422: 'conflict',
  426: 'usage',
  428: 'conflict',
  429: 'failure',
  431: 'usage',
  500: 'failure',
  502: 'failure',
  503: 'unreachable',
  504: 'unreachable',
}

/** Undefined: a status that the table does not know, so that a test finds it. */
export const exitOfStatus = (status: number): ExitName | undefined => byStatus[status]

type Told = {
  readonly message?: string
  readonly code?: unknown
  readonly status?: unknown
  readonly remedy?: unknown
  readonly problem?: { readonly title: string; readonly request_id: string }
}

function exitNameOf(error: unknown): ExitName {
  const { code, status } = (error ?? {}) as Told
  return (typeof status === 'number' ? byStatus[status] : undefined) ?? byCode[String(code)] ?? 'failure'
}

export const exitOf = (error: unknown): number => exitCodes[exitNameOf(error)]

/** Where the first token is found. */
export const ADMIN_TOKEN = "the administrator's token is in the file `admin-token` in the server's data folder"

/** What to do without a token that the server takes. The server's own words are for those who write HTTP. */
export const SIGN_IN =
  'sign in with `millrace login --token-file <data>/admin-token`, where <data> is the data folder of the server, or set MILLRACE_TOKEN; an administrator makes more tokens with `millrace token create`'

/** Where in a request the server found a flaw: `/query/state/0`. */
const POINTER = /^\/(query|params|body)((?:\/[^\s/]+)+?): /

/** The flaw as the command line names it: of a query the option, of a body the place in it. */
function inWords(message: string): string {
  return message.replace(POINTER, (_, part: string, pointer: string) => {
    const [first = '', ...rest] = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (part !== 'body') return `${first}: `
    const bracketed = (name: string) => (/^\d+$/.test(name) ? `[${name}]` : undefined)
    return `${bracketed(first) ?? first}${rest.map((name) => bracketed(name) ?? `.${name}`).join('')}: `
  })
}

const DEBUG = 'run again with --debug for the details'

type Facts = {
  readonly message: string
  /** Ours, or the server's; undefined for what was not foreseen. */
  readonly code: string | undefined
  readonly remedy: string | undefined
  readonly problem: Told['problem']
}

/** What to do where the system refused, by its code. */
const systemRemedies: Readonly<Record<string, string>> = {
  ENOENT: 'name one that exists',
  EACCES: 'give this user the right to use it, or name another one',
  EPERM: 'give this user the right to use it, or name another one',
  EEXIST: 'remove it, or name another one',
  EISDIR: 'name a file',
  ENOTDIR: 'name a folder',
  ENOSPC: 'free some space',
  EADDRINUSE: 'choose another port with --port',
}

/** What the system refused: `ENOENT: no such file or directory, open '/x'` begins with the thing. */
function factsOfSystem(message: string, code: unknown): Facts | undefined {
  const remedy = systemRemedies[String(code)]
  if (remedy === undefined) return undefined
  const [, reason = message, name] = /^E[A-Z]+: (.*?), \w+(?: '(.*)')?$/s.exec(message) ?? []
  const fact = name === undefined ? reason : `${name}: ${reason}`
  return { message: fact, code: String(code).toLowerCase(), remedy, problem: undefined }
}

/** What is known of an error; undefined where there is nothing to say, as the person ended the command. */
function factsOf(error: unknown): Facts | undefined {
  const { message, code, status, problem, remedy } = (error ?? {}) as Told
  if (code === 'interrupted' || code === 'terminated' || code === 'left') return undefined
  const ofSystem = remedy === undefined ? factsOfSystem(message ?? '', code) : undefined
  if (ofSystem !== undefined) return ofSystem
  return {
    message: inWords(message || String(error)),
    code: typeof code === 'string' && /^[a-z_]+$/.test(code) ? code : undefined,
    remedy: status === 401 ? SIGN_IN : typeof remedy === 'string' ? remedy : undefined,
    problem,
  }
}

/** An error as a person reads it: what happened, why, what to do about it, and by which id the server's log has it. */
export function tell(error: unknown): string[] {
  const facts = factsOf(error)
  if (facts === undefined) return []
  const { message, code, problem } = facts
  const remedy = facts.remedy ?? (code === undefined ? DEBUG : undefined)
  return [
    `millrace: ${message}`,
    ...(problem === undefined ? [] : [`why: ${problem.title} (${String(code)})`]),
    ...(remedy === undefined ? [] : [`to fix it: ${remedy}`]),
    ...(problem === undefined ? [] : [`request id: ${problem.request_id}`]),
  ]
}

/** An error as a program reads it: what the server sent, or the same members for an error of our own. */
export function problemOf(error: unknown): object | undefined {
  const facts = factsOf(error)
  if (facts === undefined) return undefined
  const { message, code = 'unexpected', problem } = facts
  const remedy = facts.remedy ?? (code === 'unexpected' ? DEBUG : undefined)
  const given = problem ?? { code, title: exitMeanings[exitNameOf(error)], detail: message }
  return { ...given, ...(remedy === undefined ? {} : { remedy }) }
}

/** The command line asks for something that cannot be. */
export class UsageError extends Error {
  readonly code = 'usage'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

/** What was waited for did not come in time. */
export class TimedOut extends Error {
  readonly code = 'timed_out'
  readonly remedy = 'wait longer with --timeout, or look at what stands in the way with `millrace why`'
}
