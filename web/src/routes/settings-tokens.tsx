import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { type Asked, type BodyAnswered, call, type Role, routes, useCall, useRefusal } from '../api.ts'
import { clock } from '../clock.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FormDialog, SelectField, TextField } from '../parts/form.tsx'
import { Link } from '../parts/link.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { tell } from '../parts/toast.tsx'
import { SecretShown } from './settings/secret-shown.tsx'
import { roleWords, SignInLinks } from './settings/sign-in-links.tsx'
import './settings.css'

type Token = BodyAnswered<typeof routes.tokens.list>['items'][number]
type Made = { readonly name: string; readonly secret: string }

const page = getRouteApi('/shell/settings/tokens')
const DAY_MS = 86_400_000

const isOver = ({ revoked_at, expires_at }: Token) =>
  revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= clock.now())

/** Tokens that programs show, and links that sign people in. */
export function Tokens() {
  const { all } = page.useSearch()
  const list = useCall(routes.tokens.list, { query: { limit: 500 } })
  const refusal = useRefusal(routes.tokens.create)
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<Made>()
  const [revoked, setRevoked] = useState<Token>()
  return (
    <div className="stack">
      {made !== undefined && (
        <SecretShown title={`The secret of ${made.name}`} text={made.secret} onDone={() => setMade(undefined)} />
      )}
      <Panel
        title="Tokens"
        isFlush
        actions={
          <Button kind="primary" icon={KeyRound} refusal={refusal} onClick={() => setMaking(true)}>
            Make a token
          </Button>
        }
      >
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={<EmptyState title="There are no tokens" command="millrace token create ci --role submitter" />}
        >
          {({ items }) => {
            const over = items.filter(isOver)
            const shown = all === '1' ? items : items.filter((token) => !isOver(token))
            return (
              <>
                <Table label="Tokens" columns={columnsOf(setRevoked)} rows={shown} rowKey={({ id }) => id} />
                {over.length > 0 && (
                  <p className="panel-body settings-note">
                    <Link to="/settings/tokens" search={all === '1' ? {} : { all: '1' }}>
                      {all === '1' ? 'Hide those that are over' : `Show ${over.length} that are over`}
                    </Link>
                  </p>
                )}
              </>
            )
          }}
        </Loaded>
      </Panel>
      <SignInLinks />
      <MakeToken isOpen={isMaking} onClose={() => setMaking(false)} onMade={setMade} />
      {revoked !== undefined && <Revoke token={revoked} onClose={() => setRevoked(undefined)} />}
    </div>
  )
}

const columnsOf = (onRevoke: (token: Token) => void): readonly Column<Token>[] => [
  {
    id: 'name',
    head: 'Token',
    isWide: true,
    cell: ({ name, role, limit, created_by, created_at }) => (
      <>
        <span className="name">{name}</span>
        <div className="settings-note name">
          {role ?? `only ${limit?.to} ${limit?.name}`} · by {created_by} <RelativeTime at={created_at} />
        </div>
      </>
    ),
  },
  { id: 'used', head: 'Last used', isMinor: true, cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
  {
    id: 'end',
    head: 'Ends',
    align: 'end',
    cell: (token) => <End token={token} onRevoke={() => onRevoke(token)} />,
  },
]

function End({ token, onRevoke }: { readonly token: Token; readonly onRevoke: () => void }) {
  const { revoked_at, revoked_by, expires_at, name } = token
  if (revoked_at !== null) {
    return (
      <span className="muted">
        revoked by {revoked_by} <RelativeTime at={revoked_at} />
      </span>
    )
  }
  return (
    <>
      <span className="muted">{expires_at === null ? 'never' : <RelativeTime at={expires_at} />}</span>{' '}
      <Button kind="quiet" aria-label={`Revoke ${name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </>
  )
}

function Revoke({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const queries = useQueryClient()
  const revoke = async () => {
    await call(routes.tokens.revoke, { params: { id: token.id } })
    tell(`${token.name} was revoked`)
    await queries.invalidateQueries({ queryKey: [routes.tokens.list.name] })
  }
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title="Revoke this token?"
      objects={[`${token.name} (${token.role ?? `only ${token.limit?.to} ${token.limit?.name}`})`]}
      action="Revoke"
      onConfirm={revoke}
    >
      <p>It is refused at once on every server, with the sessions that came from it. This cannot be undone.</p>
    </Confirm>
  )
}

type MakeTokenProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onMade: (made: Made) => void
}

function MakeToken({ isOpen, onClose, onMade }: MakeTokenProps) {
  const queries = useQueryClient()
  const [may, setMay] = useState('submitter')
  const make = async (given: FormData) => {
    const name = String(given.get('name')).trim()
    const days = Number(given.get('days'))
    const limitTo = String(given.get('limit') ?? '').trim()
    const body: Asked<typeof routes.tokens.create>['body'] = {
      name,
      ...(isLimit(may) ? { limit: { to: may, name: limitTo } } : { role: may as Role }),
      ...(days > 0 ? { expires_at: new Date(clock.now() + days * DAY_MS).toISOString() } : {}),
    }
    const { secret } = await call(routes.tokens.create, { body })
    await queries.invalidateQueries({ queryKey: [routes.tokens.list.name] })
    if (secret !== null) onMade({ name, secret })
  }
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title="Make a token" action="Make the token" onSubmit={make}>
      <TextField label="Name" name="name" required placeholder="ci" hint="For the record: who or what will show it" />
      <SelectField label="May" value={may} onChange={({ target }) => setMay(target.value)}>
        {Object.entries(roleWords).map(([role, words]) => (
          <option key={role} value={role}>
            {words}
          </option>
        ))}
        <option value="archive">only announce revisions of one archive</option>
        <option value="node">only what is below one node</option>
        <option value="task">only one task</option>
      </SelectField>
      {isLimit(may) && (
        <TextField label={may === 'archive' ? 'Name of the archive' : `Number of the ${may}`} name="limit" required />
      )}
      <SelectField label="Ends" name="days" defaultValue="90">
        <option value="7">in a week</option>
        <option value="30">in 30 days</option>
        <option value="90">in 90 days</option>
        <option value="365">in a year</option>
        <option value="0">never</option>
      </SelectField>
    </FormDialog>
  )
}

const isLimit = (may: string): may is 'archive' | 'node' | 'task' => ['archive', 'node', 'task'].includes(may)
