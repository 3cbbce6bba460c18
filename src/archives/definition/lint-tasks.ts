import { splitCommand } from './command-words.ts'
import { type Finding, finding } from './finding.ts'
import { isMapping } from './is-mapping.ts'
import { nearest } from './nearest.ts'
import { isCommit, type OutlineTask } from './outline.ts'
import { BUILT_IN, task as taskSchema } from './schema.ts'

const WAYS_TO_RUN = ['uses', 'command', 'script']
const USELESS_WITH_USES = ['image', 'env', 'secrets', 'artifacts']

/** What is wrong with one task alone: what it runs, and with what. */
export function lintTask(task: OutlineTask): Finding[] {
  if (isCommit(task)) return []
  return [...lintRun(task), ...lintUses(task), ...lintCommand(task), ...lintSecrets(task), ...lintLists(task)]
}

function lintRun({ file, path, value }: OutlineTask): Finding[] {
  const { tree } = file
  const given = Object.keys(value).filter((key) => WAYS_TO_RUN.includes(key))
  const [first, ...others] = given
  const meant = keysMeant(value)
  if (first === undefined && WAYS_TO_RUN.some((key) => meant.has(key))) return []
  if (first === undefined) {
    const place = 'name' in value ? tree.placeOf([...path, 'name']) : tree.placeOfLack(path)
    const suggestion = 'add a command, a script, or uses'
    const nothing = finding('nothing-to-run', place, 'the task has nothing to run', { suggestion })
    return [nothing, ...lintShell({ tree, path, value })]
  }
  const related = [{ ...tree.placeOfKey([...path, first]), message: `${first} stands here` }]
  const conflicts = others.map((key) => {
    const message = `a task has either ${first} or ${key}`
    return finding('command-and-script', tree.placeOfKey([...path, key]), message, { related })
  })
  return [...conflicts, ...lintShell({ tree, path, value })]
}

const KNOWN = Object.keys(taskSchema.shape)

/** What is probably meant by unknown keys: that it is missing is not a second mistake. */
function keysMeant(value: OutlineTask['value']): ReadonlySet<string | undefined> {
  const unknown = Object.keys(value).filter((key) => !KNOWN.includes(key))
  return new Set(unknown.map((key) => nearest(key, KNOWN)))
}

function lintShell({
  tree,
  path,
  value,
}: Pick<OutlineTask, 'path' | 'value'> & Pick<OutlineTask['file'], 'tree'>): Finding[] {
  if (!('shell' in value) || 'script' in value) return []
  const message = 'a shell runs a script, and there is none'
  return [
    finding('shell-without-script', tree.placeOfKey([...path, 'shell']), message, {
      suggestion: 'write script instead of command, or leave shell out',
    }),
  ]
}

function lintUses({ file, path, value }: OutlineTask): Finding[] {
  const { tree } = file
  const { uses } = value
  if (typeof uses !== 'string') return []
  const useless = USELESS_WITH_USES.filter((key) => key in value).map((key) =>
    finding('useless-key', tree.placeOfKey([...path, key]), `${key} has no effect beside uses`),
  )
  if (BUILT_IN.some((known) => known === uses)) return useless
  const meant = nearest(uses, BUILT_IN)
  const suggestion = meant ? `did you mean ${meant}?` : `built in is ${BUILT_IN.join(', ')}`
  const message = `nothing built in is called "${uses}"`
  return [finding('unknown-uses', tree.placeOf([...path, 'uses']), message, { suggestion }), ...useless]
}

function lintCommand({ file, path, value }: OutlineTask): Finding[] {
  const { command } = value
  const sign = typeof command === 'string' ? splitCommand(command).shellSign : undefined
  if (sign === undefined) return []
  const place = file.tree.placeInside([...path, 'command'], sign.at, 1)
  const message = `"${sign.sign}" means something to a shell only, and a command is run without one`
  return [finding('command-needs-shell', place, message, { suggestion: 'use script, or put the text in quotes' })]
}

function lintSecrets({ file, path, value }: OutlineTask): Finding[] {
  const { env, secrets } = value
  if (!isMapping(env)) return []
  return toList(secrets).flatMap((name, i) => {
    if (typeof name !== 'string' || !(name in env)) return []
    const at = Array.isArray(secrets) ? [...path, 'secrets', i] : [...path, 'secrets']
    const related = [{ ...file.tree.placeOfKey([...path, 'env', name]), message: 'the variable' }]
    const message = `"${name}" is a variable of the task as well`
    return [finding('secret-in-env', file.tree.placeOf(at), message, { related })]
  })
}

function lintLists({ file, path, value }: OutlineTask): Finding[] {
  return ['secrets', 'artifacts'].flatMap((key) => {
    const firsts = new Map<unknown, number>()
    return toList(value[key]).flatMap((item, i) => {
      const first = firsts.get(item)
      if (first === undefined) {
        firsts.set(item, i)
        return []
      }
      const related = [{ ...file.tree.placeOf([...path, key, first]), message: 'the first one' }]
      return [
        finding(
          'duplicate-entry',
          file.tree.placeOf([...path, key, i]),
          `"${String(item)}" stands in this list already`,
          {
            related,
          },
        ),
      ]
    })
  })
}

const toList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]
