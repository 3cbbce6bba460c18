import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { UsageError } from '../exit.ts'
import { clean } from '../render/text.ts'

/** Announces a revision, as the post-commit hook does. */
export const commit: CommandFile = {
  usage: 'ARCHIVE REV [--txn NAME]',
  examples: ['millrace commit My-Project 12', 'millrace commit My-Project 12 --txn 11-f --json'],
  prints: 'one',
  define(command) {
    command
      .argument('<archive>', ARCHIVE)
      .argument('<rev>', 'number of the revision; in git also the commit')
      .option('--txn <name>', 'the third argument of the hook of Subversion')
  },
  async run({ output, server, signal }, [name = '', rev = ''], { txn }: { txn?: string }) {
    const body = { rev: revOf(rev), ...(txn === undefined ? {} : { txn }) }
    const { client, routes } = await server()
    const announced = await client.call(routes.archives.commit, { params: { name }, body }, { signal })
    output.one(announced, () => [`${clean(name)} r${clean(rev)}: ${announced.known ? 'known' : 'accepted'}`])
  },
}

function revOf(text: string): number | string {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  if (/^[0-9a-f]{40}$/.test(text)) return text
  throw new UsageError(`"${text}" is no revision`, 'give its number, or in git the 40 characters of the commit')
}
