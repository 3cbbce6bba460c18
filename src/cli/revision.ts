// A revision of an archive as commands name and show it.
import type { BodyAnswered, routes } from '../api/index.ts'
import type { Output } from './output.ts'
import { clean, count } from './render/text.ts'
import { ago } from './render/time.ts'
import { paintState, type Task } from './task.ts'

type Revision = BodyAnswered<typeof routes.archives.revision>

/** `My-Project@12`: no task of it, but all. */
const REVISION = /^(.+)@([^@:#/]+)$/

export function revisionOf(text: string): { readonly name: string; readonly rev: string } | undefined {
  const [, name, rev] = REVISION.exec(text) ?? []
  return name === undefined || rev === undefined ? undefined : { name, rev }
}

export function describeRevision(archive: string, revision: Revision, { style }: Output): string[] {
  const { problems, tasks } = revision
  const pairs: [string, string | null][] = [
    ['commit', revision.id === String(revision.number) ? null : revision.id],
    ['author', revision.author],
    ['committed', revision.date === null ? null : ago(revision.date)],
    ['message', revision.message.split('\n')[0] ?? ''],
    ['made by', revision.cause],
  ]
  return [
    `${style.bold(`${clean(archive)} r${revision.number}`)}  ${revision.state === 'broken' ? style.red('✕ broken') : revision.state}`,
    ...pairs.flatMap(([name, value]) => (value === null ? [] : [`  ${style.dim(name.padEnd(9))} ${clean(value)}`])),
    ...(problems.length === 0 ? [] : [style.red(count(problems.length, 'problem'))]),
    ...problems.flatMap(({ file, line, column, severity, code, message, suggestion }) => {
      const place = file === null ? '' : `${clean(file)}${line === null ? '' : `:${line}:${column}`} `
      return [
        `  ${place}${severity} ${code}: ${clean(message)}`,
        ...(suggestion === null ? [] : [`    ${clean(suggestion)}`]),
      ]
    }),
    'tasks',
    ...tasks.map(({ id, key, state }) => `  ${id} ${paintState(style, state as Task['state'])}  ${clean(key)}`),
  ]
}
