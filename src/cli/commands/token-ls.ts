import type { routes as apiRoutes, BodyAnswered } from '../../api/index.ts'
import type { CommandFile } from '../command.ts'
import { ago } from '../render/time.ts'

type Token = BodyAnswered<(typeof apiRoutes)['tokens']['list']>['items'][number]

/** Lists tokens, without their secrets. */
export const tokenLs: CommandFile = {
  usage: '[--all]',
  examples: ['millrace token ls', 'millrace token ls --all --json=id,name,last_used_at'],
  prints: 'list',
  define: (command) => void command.option('--all', 'list revoked and expired tokens, too'),
  async run({ output, server, signal }, _, { all }: { all?: boolean }) {
    const { client, routes } = await server()
    const items: Token[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = cursor === undefined ? {} : { cursor }
      const page = await client.call(routes.tokens.list, { query }, { signal })
      items.push(...page.items.filter((token) => all || isWorking(token)))
      cursor = page.next_cursor
    }
    await output.list(
      items,
      [
        { title: 'id', of: ({ id }) => id, align: 'right' },
        { title: 'name', of: ({ name }) => name, least: 10, importance: 'name' },
        { title: 'may', of: ({ role, limit }) => role ?? `${limit?.to}:${limit?.name}`, least: 10 },
        { title: 'created', of: (token) => ago(token.created_at), plain: (token) => token.created_at },
        { title: 'by', of: (token) => token.created_by, least: 8 },
        { title: 'expires', of: (token) => ago(token.expires_at), plain: (token) => token.expires_at ?? '' },
        { title: 'last used', of: (token) => ago(token.last_used_at), plain: (token) => token.last_used_at ?? '' },
        ...(all ? [{ title: 'revoked', of: (token: Token) => ago(token.revoked_at) }] : []),
      ],
      { id: ({ id }) => id, none: 'no tokens; `millrace token create` makes one' },
    )
  },
}

const isWorking = ({ revoked_at, expires_at }: Token) =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now())
