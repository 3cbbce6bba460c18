import type { CommandFile } from '../command.ts'
import { examineHere } from '../examine-here.ts'
import { examineHooks } from '../examine-hooks.ts'
import { examineServer } from '../examine-server.ts'
import { exitCodes } from '../exit.ts'
import { addFlags, flagsOf } from '../flags.ts'
import type { Finding } from '../host.ts'
import type { Output } from '../output.ts'
import { clean, pad } from '../render/text.ts'

/** Looks for what would keep Millrace from working here: each finding with its evidence and what mends it. */
export const doctor: CommandFile = {
  usage: '',
  examples: ['millrace doctor', 'millrace doctor --json --database-url postgresql://user@host/millrace'],
  prints: 'list',
  define: (command) => void addFlags(command, ['host', 'port', 'data', 'database_url']),
  async run(context, _, options: Record<string, unknown>) {
    const { output } = context
    const config = await context.config(flagsOf(options))
    const host = await context.host()
    const looks = [
      examineHere(config),
      host.examineDatabase(config),
      examineServer(context, config),
      examineHooks(context),
    ]
    const findings: Finding[] = []
    for (const look of looks) {
      const found = await look
      findings.push(...found)
      if (output.format === 'text') for (const finding of found) tell(finding, output)
    }
    if (output.format !== 'text') {
      await output.list(
        findings,
        [
          { title: 'check', of: ({ check }) => check },
          { title: 'state', of: ({ state }) => state },
          { title: 'evidence', of: ({ evidence }) => evidence },
          { title: 'fix', of: ({ fix }) => fix ?? '' },
        ],
        { id: ({ check }) => check, none: '' },
      )
    }
    return findings.some(({ state }) => state === 'bad') ? exitCodes.failure : exitCodes.done
  },
}

const looks = {
  good: ['✓', 'green'],
  warning: ['!', 'yellow'],
  bad: ['✗', 'red'],
  unknown: ['?', 'dim'],
} as const satisfies Record<Finding['state'], readonly [string, keyof Output['style']]>

function tell({ check, state, evidence, fix }: Finding, { style, line }: Output): void {
  const [glyph, color] = looks[state]
  line(`${style[color](glyph)} ${pad(check, 13)} ${clean(evidence)}`)
  if (fix !== null) line(`  ${pad('', 13)} ${style.dim('to fix it:')} ${clean(fix)}`)
}
