// Servers that a person has signed in to, by name. The file holds their tokens: only its owner may read it.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export type Context = { readonly url: string; readonly token?: string }

export type Contexts = {
  /** The one that commands use unless another is named. */
  readonly current: string | null
  readonly contexts: Readonly<Record<string, Context>>
}

type Environment = Readonly<Record<string, string | undefined>>

/** The file of contexts cannot be used as it is. */
export class ContextsUnusable extends Error {
  readonly code = 'contexts_unusable'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}

/** Where the contexts are kept, after the XDG rules. */
export function contextsPath(environment: Environment = process.env): string {
  const { XDG_CONFIG_HOME: given, HOME: home } = environment
  // The rules say that a relative path is to be ignored.
  const folder = given?.startsWith('/') ? given : join(home || homedir(), '.config')
  return join(folder, 'millrace', 'contexts.json')
}

/** The contexts as they are kept; none when there is no file. */
export function readContexts(environment?: Environment): Contexts {
  const path = contextsPath(environment)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { current: null, contexts: {} }
    throw new ContextsUnusable(`${path} cannot be read: ${message}`, 'make it readable for you, or remove it')
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new ContextsUnusable(`others may read ${path}, which holds tokens`, `run chmod 600 ${path}`)
  }
  return parse(text, path)
}

/** Keeps the contexts, in one step: whoever reads sees the old file or the new one, and nobody else sees either. */
export function writeContexts(contexts: Contexts, environment?: Environment): void {
  const path = contextsPath(environment)
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new ContextsUnusable(
      `${path} cannot be written: ${(error as Error).message}`,
      'make its folder writable, or set XDG_CONFIG_HOME to one that is',
    )
  }
}

function parse(text: string, path: string): Contexts {
  try {
    const { current = null, contexts } = JSON.parse(text) as Partial<Contexts>
    const isGood = (context: unknown) => typeof (context as Context | null)?.url === 'string'
    if (typeof contexts === 'object' && Object.values(contexts).every(isGood)) return { current, contexts }
  } catch {
    // Told below, like JSON of another shape.
  }
  throw new ContextsUnusable(`${path} is not what \`millrace login\` writes`, 'mend it, or remove it and sign in again')
}
