import type { routes as apiRoutes, BodyAnswered } from '../../api/index.ts'
import { ARCHIVE } from '../archive.ts'
import type { CommandFile } from '../command.ts'
import { clean } from '../render/text.ts'
import { ago } from '../render/time.ts'

type Secret = BodyAnswered<(typeof apiRoutes)['secrets']['list']>['items'][number]

/** Lists secrets, without their values. */
export const secretLs: CommandFile = {
  usage: '[--archive NAME]',
  examples: ['millrace secret ls', 'millrace secret ls --archive My-Project --json=name,version'],
  prints: 'list',
  define: (command) => void command.option('--archive <name>', `${ARCHIVE}: those that its tasks can have`),
  async run({ output, server, signal }, _, { archive }: { archive?: string }) {
    const { client, routes } = await server()
    const items: Secret[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = cursor === undefined ? {} : { cursor }
      const page =
        archive === undefined
          ? await client.call(routes.secrets.list, { query }, { signal })
          : await client.call(routes.secrets.listOf, { params: { archive }, query }, { signal })
      items.push(...page.items)
      cursor = page.next_cursor
    }
    const keyOf = (secret: Secret) => `${secret.name} ${secret.archive ?? ''}`
    items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    await output.list(
      items,
      [
        { title: 'name', of: ({ name }) => name, importance: 'key' },
        {
          title: 'archive',
          of: ({ archive: of }) => clean(of ?? '(all)'),
          plain: ({ archive: of }) => of ?? '',
          least: 10,
        },
        { title: 'version', of: ({ version }) => String(version), align: 'right' },
        { title: 'changed', of: (secret) => ago(secret.changed_at), plain: (secret) => secret.changed_at },
        { title: 'by', of: (secret) => clean(secret.changed_by), least: 8 },
      ],
      { id: ({ name }) => name, none: 'no secrets; `millrace secret set` makes one' },
    )
  },
}
