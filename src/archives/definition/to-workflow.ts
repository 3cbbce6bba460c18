import type { z } from 'zod'
import { withoutExtensions } from './check-shape.ts'
import { splitCommand } from './command-words.ts'
import type { Condition } from './condition.ts'
import { parseDuration } from './duration.ts'
import { type Glob, type GlobProblem, isGlobProblem, parseGlob, parseTextGlob } from './glob.ts'
import { isMapping } from './is-mapping.ts'
import { COMMIT, parseReference, type Reference } from './names.ts'
import { baseName } from './outline.ts'
import { isConditionProblem, parseCondition } from './parse-condition.ts'
import { DEFAULTS, mapping, type SHELLS } from './schema.ts'
import type { Path, Tree } from './tree.ts'
import type { CommitFilter, Dependency, Input, Run, TaskDefinition, Triggers, Workflow } from './workflow.ts'

type Mapping = z.infer<typeof mapping>
type Task = Mapping['tasks'][number]
type Scalar = string | number | boolean
type Place = { readonly tree: Tree; readonly path: Path }

// The shells stop at the first command that fails; the others do so by nature.
const SHELL_COMMANDS: Readonly<Record<(typeof SHELLS)[number], readonly string[]>> = {
  sh: ['sh', '-e'],
  bash: ['bash', '-eo', 'pipefail'],
  zsh: ['zsh', '-e', '-o', 'pipefail'],
  python3: ['python3'],
  node: ['node'],
  perl: ['perl'],
  pwsh: ['pwsh', '-NonInteractive', '-File'],
}

/** The workflow of a file in which no errors were found. */
export function toWorkflow(tree: Tree): Workflow {
  const isList = Array.isArray(tree.value)
  const value = mapping.parse(isMapping(tree.value) ? withoutExtensions(tree.value) : { tasks: tree.value ?? [] })
  const path: Path = isList ? [] : ['tasks']
  const tasks = value.tasks.map((task, i) => ({ task, path: [...path, i] }))
  return {
    file: tree.source.file,
    name: value.name ?? baseName(tree.source.file),
    on: toTriggers(value.on, tree),
    commitDepends: tasks.flatMap(({ task }) => (task.name === COMMIT ? toDependencies(task) : [])),
    tasks: tasks
      .filter(({ task }) => task.name !== COMMIT)
      .map(({ task, path }) => toTask(task, value, { tree, path })),
  }
}

function toTriggers(on: Mapping['on'], tree: Tree): Triggers {
  const schedule = toList(on?.schedule).map(({ cron, timezone, overlap }) => ({
    cron: cron.trim(),
    timezone: timezone ?? DEFAULTS.timezone,
    overlap: overlap ?? DEFAULTS.overlap,
  }))
  const inputs = Object.entries(on?.manual?.inputs ?? {}).map(([name, input]): Input => {
    const path = ['on', 'manual', 'inputs', name]
    return {
      name,
      default: input?.default === undefined ? undefined : toText(input.default, { tree, path: [...path, 'default'] }),
      description: input?.description,
      isRequired: input?.required ?? false,
      options: input?.options?.map((option, i) => toText(option, { tree, path: [...path, 'options', i] })),
    }
  })
  const isOnCommit = on === undefined || on.commit !== undefined
  return { commit: isOnCommit ? toFilter(on?.commit) : undefined, schedule, inputs }
}

function toFilter(commit: NonNullable<Mapping['on']>['commit']): CommitFilter {
  return {
    paths: toList(commit?.paths).map((text) => valid(parseGlob(text))),
    pathsIgnore: toList(commit?.['paths-ignore']).map((text) => valid(parseGlob(text))),
    authors: toList(commit?.authors).map((text) => valid(parseTextGlob(text))),
  }
}

function toTask(task: Task, { defaults = {}, cancels }: Mapping, { tree, path }: Place): TaskDefinition {
  const timeout = task.timeout ?? defaults.timeout ?? DEFAULTS.timeout
  return {
    name: task.name,
    depends: toDependencies(task),
    cancels: toCancels(task, cancels),
    run: toRun(task, defaults.shell ?? DEFAULTS.shell, { tree, path }),
    image: task.image ?? defaults.image ?? null,
    env: {
      ...toEnv(defaults.env, { tree, path: ['defaults', 'env'] }),
      ...toEnv(task.env, { tree, path: [...path, 'env'] }),
    },
    secrets: [...new Set(toList(task.secrets))],
    artifacts: [...new Set(toList(task.artifacts))],
    isExclusive: task.exclusive ?? defaults.exclusive ?? false,
    timeoutSeconds: parseDuration(timeout) ?? 0,
    retries: task.retries ?? defaults.retries ?? DEFAULTS.retries,
    queue: task.queue ?? defaults.queue ?? DEFAULTS.queue,
    condition: toCondition(task.if),
  }
}

function toDependencies({ name, depends }: Task): Dependency[] {
  const dependencies = toList(depends).map((entry): Dependency => {
    const { task, when } = typeof entry === 'string' ? { task: entry, when: undefined } : entry
    const reference = parseReference(task, name) as Reference
    return { ...reference, when: when ?? (reference.isPrevious ? 'finished' : 'succeeded') }
  })
  return unique(dependencies, ({ name, isPrevious, when }) => `${isPrevious} ${name} ${when}`)
}

/** Those of the task and those of the whole file, of which one may name the task itself. */
function toCancels({ name, cancels }: Task, ofFile: Mapping['cancels']): Reference[] {
  const references = [...toList(cancels), ...toList(ofFile)].map((text) => parseReference(text, name) as Reference)
  const others = references.filter((reference) => reference.isPrevious || reference.name !== name)
  return unique(others, ({ name, isPrevious }) => `${isPrevious} ${name}`)
}

function toRun(task: Task, shell: (typeof SHELLS)[number], { tree, path }: Place): Run {
  if (task.uses !== undefined) return { type: 'uses', uses: task.uses }
  if (task.script !== undefined)
    return { type: 'script', script: task.script, shell: SHELL_COMMANDS[task.shell ?? shell] }
  const { command = '' } = task
  if (typeof command === 'string') return { type: 'command', command: splitCommand(command).words }
  const words = command.map((word, i) => toText(word, { tree, path: [...path, 'command', i] }))
  return { type: 'command', command: words }
}

function toEnv(env: Readonly<Record<string, Scalar>> = {}, { tree, path }: Place): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, toText(value, { tree, path: [...path, name] })]),
  )
}

/** A number stays as it is written: `1.10` does not become `1.1`. */
function toText(value: Scalar, { tree, path }: Place): string {
  return typeof value === 'string' ? value : (tree.writtenAt(path) ?? String(value))
}

function toCondition(written: string | boolean | undefined): Condition {
  if (typeof written !== 'string') return { kind: 'always', holds: written ?? true }
  const condition = parseCondition(written)
  if (isConditionProblem(condition)) throw new Error(`a condition passed the checks and is malformed: ${written}`)
  return condition
}

function valid(glob: Glob | GlobProblem): Glob {
  if (isGlobProblem(glob)) throw new Error(`a pattern passed the checks and is malformed: ${glob.message}`)
  return glob
}

function toList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return []
  return Array.isArray(value) ? (value as readonly T[]) : [value as T]
}

function unique<T>(items: readonly T[], key: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => !seen.has(key(item)) && seen.add(key(item)))
}
