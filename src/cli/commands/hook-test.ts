import { answerInWords, findRepository, tryHook } from '../../hooks/index.ts'
import type { CommandFile } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { addPlace, type PlaceOptions, placeOf } from '../hooked-place.ts'
import { clean, count } from '../render/text.ts'

/** Does what the hook does, with nothing but what it would have, and says what came of it. */
export const hookTest: CommandFile = {
  usage: '[--svn PATH] [--git PATH]',
  examples: ['millrace hook test --svn /srv/svn/book', 'millrace hook test --git /srv/git/book.git --json'],
  prints: 'list',
  define: (command) => void addPlace(command),
  async run(context, _, options: PlaceOptions) {
    const { output } = context
    const tried = await tryHook(await findRepository(placeOf(options)))
    const rows = tried.map(({ tookMs, ...one }) => ({ ...one, took_ms: Math.round(tookMs) }))
    if (output.format === 'text') {
      for (const { archive, announced, status, sender, took_ms, waiting } of rows) {
        const what = announced === null ? 'asked who the token is' : `announced ${announced}`
        output.line(`${clean(archive)}: ${what}; ${answerInWords(status, sender)}; a committer waits ${took_ms} ms`)
        if (waiting > 0) output.line(`${clean(archive)}: ${count(waiting, 'notice')} wait to be sent`)
      }
    } else {
      const columns = [
        { title: 'archive', of: ({ archive }: (typeof rows)[number]) => archive },
        { title: 'announced', of: ({ announced }: (typeof rows)[number]) => announced ?? '' },
        { title: 'status', of: ({ status }: (typeof rows)[number]) => String(status) },
      ]
      await output.list(rows, columns, { id: ({ archive }) => archive, none: '' })
    }
    return tried.every(({ status }) => status >= 200 && status < 300) ? exitCodes.done : exitCodes.failure
  },
}
