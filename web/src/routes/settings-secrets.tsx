import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useState } from 'react'
import { type BodyAnswered, call, routes, useCall, useRefusal } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FormDialog, fieldOf, SelectField, TextArea, TextField } from '../parts/form.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { RelativeTime } from '../parts/time.tsx'
import { tell } from '../parts/toast.tsx'
import './settings.css'

type Secret = BodyAnswered<typeof routes.secrets.list>['items'][number]
type Edited = { readonly name: string; readonly archive: string | null }

const page = getRouteApi('/shell/settings/secrets')
const whose = (archive: string | null) => (archive === null ? 'every archive' : archive)

/** Names of what tasks are given in secret. Values go in and never come out. */
export function Secrets() {
  const { archive } = page.useSearch()
  const navigate = page.useNavigate()
  const all = useCall(routes.secrets.list, { query: { limit: 1000 } })
  const archives = useCall(routes.archives.list)
  const refusal = useRefusal(routes.secrets.set)
  const [edited, setEdited] = useState<Edited>()
  const [removed, setRemoved] = useState<Secret>()
  const names = archives.data?.items.map(({ name }) => name) ?? []
  return (
    <div className="stack">
      <div className="row">
        <select
          className="input"
          aria-label="Archive"
          value={archive ?? ''}
          onChange={({ target }) => void navigate({ search: target.value === '' ? {} : { archive: target.value } })}
        >
          <option value="">Of every archive and each</option>
          {names.map((name) => (
            <option key={name} value={name}>
              That tasks of {name} can have
            </option>
          ))}
        </select>
        <Button
          kind="primary"
          icon={Lock}
          refusal={refusal}
          onClick={() => setEdited({ name: '', archive: archive ?? null })}
        >
          Set a secret
        </Button>
      </div>
      <Panel title="Secrets" isFlush>
        <Loaded
          query={all}
          isEmpty={({ items }) => items.length === 0}
          empty={
            <EmptyState title="There are no secrets" command="millrace secret set SIGNING_KEY">
              Tasks that name one get it in their environment, and it is masked in their output.
            </EmptyState>
          }
        >
          {({ items }) => (
            <Table
              label="Secrets"
              columns={columnsOf({ refusal, onEdit: setEdited, onRemove: setRemoved })}
              rows={items.filter((secret) => archive === undefined || [null, archive].includes(secret.archive))}
              rowKey={(secret) => `${secret.archive ?? ''}/${secret.name}`}
            />
          )}
        </Loaded>
      </Panel>
      {edited !== undefined && <SetSecret edited={edited} archives={names} onClose={() => setEdited(undefined)} />}
      {removed !== undefined && <RemoveSecret secret={removed} onClose={() => setRemoved(undefined)} />}
    </div>
  )
}

type Acts = {
  readonly refusal: string | undefined
  readonly onEdit: (edited: Edited) => void
  readonly onRemove: (secret: Secret) => void
}

const columnsOf = ({ refusal, onEdit, onRemove }: Acts): readonly Column<Secret>[] => [
  {
    id: 'name',
    head: 'Secret',
    isWide: true,
    cell: ({ name, archive, changed_by, changed_at }) => (
      <>
        <span className="mono name">{name}</span>
        <div className="settings-note name">
          of {whose(archive)} · set by {changed_by} <RelativeTime at={changed_at} />
        </div>
      </>
    ),
  },
  {
    id: 'acts',
    head: <span className="visually-hidden">Actions</span>,
    align: 'end',
    cell: (secret) => (
      <>
        <Button kind="quiet" aria-label={`Set ${secret.name} anew`} refusal={refusal} onClick={() => onEdit(secret)}>
          Set
        </Button>
        <Button kind="quiet" aria-label={`Remove ${secret.name}`} refusal={refusal} onClick={() => onRemove(secret)}>
          Remove
        </Button>
      </>
    ),
  },
]

type SetSecretProps = {
  readonly edited: Edited
  readonly archives: readonly string[]
  readonly onClose: () => void
}

function SetSecret({ edited, archives, onClose }: SetSecretProps) {
  const queries = useQueryClient()
  const isNew = edited.name === ''
  const save = async (given: FormData) => {
    const name = isNew ? fieldOf(given, 'name').trim() : edited.name
    const archive = isNew ? fieldOf(given, 'archive') : (edited.archive ?? '')
    const body = { value: fieldOf(given, 'value') }
    if (archive === '') await call(routes.secrets.set, { params: { name }, body })
    else await call(routes.secrets.setOf, { params: { archive, name }, body })
    tell(`${name} of ${whose(archive || null)} was set`)
    await queries.invalidateQueries({ queryKey: [routes.secrets.list.name] })
  }
  const title = isNew ? 'Set a secret' : `Set ${edited.name} of ${whose(edited.archive)} anew`
  return (
    <FormDialog isOpen onClose={onClose} title={title} action="Set" onSubmit={save}>
      {isNew && (
        <div className="fields">
          <TextField label="Name" name="name" required isMono placeholder="SIGNING_KEY" />
          <SelectField label="Of" name="archive" defaultValue={edited.archive ?? ''}>
            <option value="">every archive</option>
            {archives.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <TextArea
        label="Value"
        name="value"
        rows={4}
        required
        autoComplete="off"
        hint="It is sealed and never shown again"
      />
    </FormDialog>
  )
}

function RemoveSecret({ secret, onClose }: { readonly secret: Secret; readonly onClose: () => void }) {
  const queries = useQueryClient()
  const { name, archive } = secret
  const remove = async () => {
    if (archive === null) await call(routes.secrets.remove, { params: { name } })
    else await call(routes.secrets.removeOf, { params: { archive, name } })
    tell(`${name} of ${whose(archive)} was removed`)
    await queries.invalidateQueries({ queryKey: [routes.secrets.list.name] })
  }
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title="Remove this secret?"
      objects={[`${name} of ${whose(archive)}`]}
      action="Remove"
      onConfirm={remove}
    >
      <p>Tasks that need it fail from then on. This cannot be undone.</p>
    </Confirm>
  )
}
