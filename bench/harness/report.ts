import { cpus, release, totalmem } from 'node:os'
import { figure, median, type Result } from './bench.ts'
import { POSTGRES_SETTINGS, REDIS_SETTINGS } from './servers.ts'

export type Circumstances = {
  date: string
  rounds: number
  command: string
  node: string
  postgres: string
  /** Settings are ours to state only when the server is ours too. */
  ownPostgres: boolean
  redis: string
  versions: Record<string, string>
}

const settingsOf = (settings: object) =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${value === '' ? "''" : value}`)
    .join(', ')

/** Writes the results as a page: what was run where, each bar with its mark, each figure with its rounds. */
export function report(results: Result[], at: Circumstances): string {
  const marks = results.flatMap((result) => result.verdicts)
  const held = marks.filter((verdict) => verdict.held).length
  const missed = marks.filter((verdict) => verdict.held === false).length
  return [
    '# Results',
    '',
    `Written by \`${at.command}\`; do not edit. ${held} bars reached, ${missed} missed, ${marks.length - held - missed} not measured.`,
    '',
    `- when: ${at.date}; interleaved rounds: ${at.rounds}, medians; spread is the best round over the worst, and a mark whose margin is smaller decides nothing`,
    `- machine: ${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`,
    `- Node of all contenders: ${at.node}`,
    `- PostgreSQL ${at.postgres}, over TCP on the same machine: ${at.ownPostgres ? settingsOf(POSTGRES_SETTINGS) : 'settings of the given server'}`,
    `- Redis ${at.redis}: ${settingsOf(REDIS_SETTINGS)}`,
    `- peers: ${Object.entries(at.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    '',
    ...results.flatMap(section),
  ].join('\n')
}

function section(result: Result): string[] {
  return [
    `## ${result.claim}`,
    '',
    '| bar | reached | |',
    '|---|---|---|',
    ...result.verdicts.map(({ bar, reached, held }) => `| ${bar} | ${reached} | ${mark(held)} |`),
    '',
    '| contender | figure | median | spread | rounds |',
    '|---|---|---|---|---|',
    ...result.rows.map(
      ({ contender, what, unit, values }) =>
        `| ${contender} | ${what} | ${figure(median(values))} ${unit} | ${spread(values)} | ${values.map(figure).join(' · ')} |`,
    ),
    '',
    ...(result.notes.length > 0 ? [result.notes.join(' '), ''] : []),
  ]
}

/** How far the rounds lie apart: where this is larger than a bar's margin, the mark beside the bar decides nothing. */
function spread(values: number[]): string {
  return `${(Math.max(...values) / Math.min(...values)).toFixed(2)} x`
}

function mark(held: boolean | null): string {
  if (held === null) return '–'
  return held ? 'reached' : '**missed**'
}
