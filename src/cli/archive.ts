// What the commands of archives share.
import type { BodyAnswered, routes } from '../api/index.ts'
import type { Output } from './output.ts'
import type { Style } from './render/style.ts'
import { clean } from './render/text.ts'
import { ago } from './render/time.ts'

export type Archive = BodyAnswered<typeof routes.archives.get>

export const ARCHIVE = 'name of an archive'

const looks = {
  active: { glyph: '●', color: 'green' },
  held: { glyph: '‖', color: 'yellow' },
  broken: { glyph: '✕', color: 'red' },
} as const satisfies Record<Archive['state'], { glyph: string; color: keyof Style }>

export const archiveText = (state: Archive['state']): string => `${looks[state].glyph} ${state}`

export const paintArchive = (style: Style, state: Archive['state'], text: string = archiveText(state)): string =>
  style[looks[state].color](text)

export const placeOf = ({ source }: Archive) => ('url' in source ? source.url : '(notices alone)')

export const behind = ({ planned, youngest }: Archive) => Math.max(0, youngest.number - planned.number)

/** How far an archive is planned, in half a sentence. */
export function progress(archive: Archive): string {
  const { planned, first } = archive
  const done = planned.number < first ? 'no revision is planned yet' : `planned up to r${planned.number}`
  return behind(archive) === 0 ? done : `${done}, ${behind(archive)} behind r${archive.youngest.number}`
}

export function describeArchive(archive: Archive, { style }: Output): string[] {
  const { source, problem } = archive
  const pairs: [string, string | null][] = [
    ['source', `${source.type} ${placeOf(archive)}`],
    ['branch', 'branch' in source && source.branch !== undefined ? source.branch : null],
    ['folder', 'path' in source && source.path !== undefined ? source.path : null],
    ['identity', archive.identity],
    ['history', `from r${archive.first}; ${progress(archive)}`],
    ['last notice', archive.announced_at === null ? 'none yet' : ago(archive.announced_at)],
    ['looked at', ago(archive.looked_at)],
    ['registered', `${ago(archive.created_at)} by ${archive.created_by}`],
  ]
  return [
    `${style.bold(clean(archive.name))}  ${paintArchive(style, archive.state)}`,
    ...pairs.flatMap(([title, value]) => (value === null ? [] : [`  ${style.dim(title.padEnd(12))} ${clean(value)}`])),
    ...(problem === null ? [] : [`  ${style.red('problem')}      ${clean(problem.message)} (${ago(problem.since)})`]),
    ...(problem?.remedy == null
      ? []
      : [`  ${style.dim('to fix it')}    ${clean(problem.remedy.replaceAll('NAME', archive.name))}`]),
  ]
}
