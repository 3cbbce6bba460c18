// The commands of the tree that keep the machinery running.
import { type Leaf, leaf } from './leaf.ts'

export const databases: readonly Leaf[] = [
  leaf('url', 'print the URL of the database', async () => (await import('./commands/db-url.ts')).dbUrl),
  leaf('shell', 'open psql on the database', async () => (await import('./commands/db-shell.ts')).dbShell),
  leaf('export', 'write a copy of everything', async () => (await import('./commands/db-export.ts')).dbExport),
  leaf('import', 'read a copy into an empty database', async () => (await import('./commands/db-import.ts')).dbImport),
  leaf(
    'move',
    'copy everything into another, empty database',
    async () => (await import('./commands/db-move.ts')).dbMove,
  ),
]

export const webhooks: readonly Leaf[] = [
  leaf('add', 'register a receiver of events', async () => (await import('./commands/webhook-add.ts')).webhookAdd),
  leaf('ls', 'list webhooks', async () => (await import('./commands/webhook-ls.ts')).webhookLs),
  leaf('test', 'send a test message now', async () => (await import('./commands/webhook-test.ts')).webhookTest),
  leaf(
    'deliveries',
    'list deliveries and their results',
    async () => (await import('./commands/webhook-deliveries.ts')).webhookDeliveries,
  ),
  leaf('resend', 'send deliveries again', async () => (await import('./commands/webhook-resend.ts')).webhookResend),
  leaf('enable', 'enable webhooks', async () => (await import('./commands/webhook-enable.ts')).webhookEnable),
  leaf('disable', 'disable webhooks', async () => (await import('./commands/webhook-disable.ts')).webhookDisable),
  leaf(
    'rotate',
    'replace the secret of a webhook',
    async () => (await import('./commands/webhook-rotate.ts')).webhookRotate,
  ),
  leaf('rm', 'remove a webhook', async () => (await import('./commands/webhook-rm.ts')).webhookRm),
]
