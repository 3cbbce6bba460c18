import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus, Send } from 'lucide-react'
import { useState } from 'react'
import { call, routes, useCall, useRefusal } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Facts } from '../parts/facts.tsx'
import { Link } from '../parts/link.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { StateBadge, type StateLook } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { tell } from '../parts/toast.tsx'
import { Deliveries } from './settings/deliveries.tsx'
import { SecretShown } from './settings/secret-shown.tsx'
import { type Webhook, WebhookForm } from './settings/webhook-form.tsx'
import './settings.css'

const page = getRouteApi('/shell/settings/webhooks')

function lookOf({ enabled, failing_since }: Webhook): StateLook {
  if (!enabled) return { glyph: '‖', word: 'disabled', colour: 'held' }
  if (failing_since !== null) return { glyph: '✕', word: 'failing', colour: 'failed' }
  return { glyph: '●', word: 'enabled', colour: 'succeeded' }
}

const columns: readonly Column<Webhook>[] = [
  { id: 'state', head: 'State', cell: (webhook) => <StateBadge look={lookOf(webhook)} /> },
  {
    id: 'url',
    head: 'Receiver',
    isWide: true,
    cell: ({ id, url, description }) => (
      <>
        <Link to="/settings/webhooks" search={{ webhook: id }} className="mono name">
          {url}
        </Link>
        <div className="settings-note name">{description}</div>
      </>
    ),
  },
  { id: 'told', head: 'Told of', isMinor: true, cell: (webhook) => <Told webhook={webhook} /> },
]

function Told({ webhook: { scopes, names } }: { readonly webhook: Webhook }) {
  if (scopes.length === 0 && names.length === 0) return <span className="muted">everything</span>
  return (
    <span className="settings-filters">
      {[...scopes, ...names].map((word) => (
        <span key={word} className="settings-chip name">
          {word}
        </span>
      ))}
    </span>
  )
}

/** Receivers that are told of events. */
export function Webhooks() {
  const { webhook: chosen } = page.useSearch()
  const navigate = page.useNavigate()
  const list = useCall(routes.webhooks.list, { query: { limit: 500 } })
  const refusal = useRefusal(routes.webhooks.create)
  const [isAdding, setAdding] = useState(false)
  const [secret, setSecret] = useState<{ readonly url: string; readonly secret: string }>()
  const found = list.data?.items.find(({ id }) => id === chosen)
  return (
    <div className="stack">
      {secret !== undefined && (
        <SecretShown
          title={`The secret that signs for ${secret.url}`}
          text={secret.secret}
          onDone={() => setSecret(undefined)}
        />
      )}
      <Panel
        title="Webhooks"
        isFlush
        actions={
          <Button kind="primary" icon={Plus} refusal={refusal} onClick={() => setAdding(true)}>
            Add a webhook
          </Button>
        }
      >
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="Nobody is told of events">A webhook sends what happens to another program.</EmptyState>
          }
        >
          {({ items }) => (
            <Table
              label="Webhooks"
              columns={columns}
              rows={items}
              rowKey={({ id }) => id}
              isSelected={({ id }) => id === chosen}
            />
          )}
        </Loaded>
      </Panel>
      {found !== undefined && (
        <>
          <OneWebhook
            key={found.id}
            webhook={found}
            onSecret={(made) => setSecret({ url: found.url, secret: made })}
            onRemoved={() => void navigate({ search: {} })}
          />
          <Deliveries id={found.id} />
        </>
      )}
      <WebhookForm
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        onMade={(made) => {
          setSecret(made)
          void navigate({ search: { webhook: made.id } })
        }}
      />
    </div>
  )
}

type OneWebhookProps = {
  readonly webhook: Webhook
  readonly onSecret: (secret: string) => void
  readonly onRemoved: () => void
}

function OneWebhook({ webhook, onSecret, onRemoved }: OneWebhookProps) {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'remove'>()
  const refusal = useRefusal(routes.webhooks.change)
  const { id, url, enabled, disabled_because, failing_since, created_by, created_at, old_secret_until } = webhook
  const params = { id }
  const close = () => setDialog(undefined)
  const fresh = () =>
    queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('webhooks.') })
  const test = async () => {
    const { state, attempts } = await call(routes.webhooks.test, { params })
    const last = attempts.at(-1)
    const said = last?.error ?? `answered ${last?.status}`
    tell(`The test message ${state === 'succeeded' ? 'was taken' : 'was not taken'}: ${said}`, {
      isError: state !== 'succeeded',
    })
    await fresh()
  }
  const able = async () => {
    await call(routes.webhooks.change, { params, body: { enabled: !enabled } })
    tell(enabled ? 'The webhook is disabled' : 'The webhook is told of what happens from now on')
    await fresh()
  }
  const attempt = (work: Promise<void>) => {
    work.catch((error: Error) => tell(error.message, { isError: true }))
  }
  return (
    <Panel
      title={<span className="name">{webhook.description || url}</span>}
      actions={
        <>
          <Button icon={Send} refusal={refusal} onClick={() => attempt(test())}>
            Send a test
          </Button>
          <Button refusal={refusal} onClick={() => setDialog('edit')}>
            Change
          </Button>
          <Button refusal={refusal} onClick={() => attempt(able())}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button refusal={refusal} onClick={() => setDialog('rotate')}>
            New secret
          </Button>
          <Button kind="danger" refusal={refusal} onClick={() => setDialog('remove')}>
            Remove
          </Button>
        </>
      }
    >
      <Facts
        of={{
          Receiver: <span className="mono name">{url}</span>,
          State: <StateBadge look={lookOf(webhook)} />,
          Because: disabled_because ?? undefined,
          Failing: failing_since === null ? undefined : <RelativeTime at={failing_since} />,
          'Told of': <Told webhook={webhook} />,
          'Old secret':
            old_secret_until === null ? undefined : (
              <>
                signs as well, ends <RelativeTime at={old_secret_until} />
              </>
            ),
          Added: (
            <>
              by {created_by} <RelativeTime at={created_at} />
            </>
          ),
        }}
      />
      <WebhookForm isOpen={dialog === 'edit'} onClose={close} webhook={webhook} />
      <Confirm
        isOpen={dialog === 'rotate'}
        onClose={close}
        title="Make a new secret?"
        objects={[url]}
        action="Make it"
        onConfirm={async () => {
          onSecret((await call(routes.webhooks.rotate, { params })).secret)
          await fresh()
        }}
      >
        <p>The secret of now signs as well for a day, so that the receiver can change over.</p>
      </Confirm>
      <Confirm
        isOpen={dialog === 'remove'}
        onClose={close}
        title="Remove this webhook?"
        objects={[url]}
        action="Remove"
        onConfirm={async () => {
          await call(routes.webhooks.remove, { params })
          tell('The webhook was removed')
          onRemoved()
          await fresh()
        }}
      >
        <p>What is still to be sent is not sent, and its deliveries are forgotten. This cannot be undone.</p>
      </Confirm>
    </Panel>
  )
}
