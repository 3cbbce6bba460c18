import { useQueryClient } from '@tanstack/react-query'
import { type BodyAnswered, call, routes } from '../../api.ts'
import { FormDialog, TextArea, TextField } from '../../parts/form.tsx'
import { tell } from '../../parts/toast.tsx'

export type Webhook = BodyAnswered<typeof routes.webhooks.list>['items'][number]

type WebhookFormProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** The one to change; undefined: a new one. */
  readonly webhook?: Webhook | undefined
  readonly onMade?: (made: { readonly id: string; readonly url: string; readonly secret: string }) => void
}

const listOf = (given: FormData, name: string) =>
  String(given.get(name))
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Adds a receiver, or changes what one is told of. */
export function WebhookForm({ isOpen, onClose, webhook, onMade }: WebhookFormProps) {
  const queries = useQueryClient()
  const save = async (given: FormData) => {
    const body = {
      url: String(given.get('url')).trim(),
      description: String(given.get('description')).trim(),
      scopes: listOf(given, 'scopes'),
      names: listOf(given, 'names'),
    }
    if (webhook !== undefined) {
      const ifMatch = `"${webhook.version}"`
      await call(routes.webhooks.change, { params: { id: webhook.id }, body }, { ifMatch })
      tell('The webhook was changed')
    } else {
      const made = await call(routes.webhooks.create, { body })
      if (made.secret !== null) onMade?.({ id: made.id, url: made.url, secret: made.secret })
    }
    await queries.invalidateQueries({ queryKey: [routes.webhooks.list.name] })
  }
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={webhook === undefined ? 'Add a webhook' : 'Change the webhook'}
      action={webhook === undefined ? 'Add' : 'Save'}
      onSubmit={save}
    >
      <TextField
        label="Receiver"
        name="url"
        type="url"
        required
        isMono
        defaultValue={webhook?.url}
        placeholder="https://hooks.example.org/millrace"
        hint="Addresses inside the house need the setting outbound_allow"
      />
      <TextField label="What it is for" name="description" defaultValue={webhook?.description} />
      <div className="fields">
        <TextArea
          label="Scopes"
          name="scopes"
          rows={3}
          defaultValue={webhook?.scopes.join('\n')}
          placeholder={'archive:*\nnode'}
          hint="One on each line; none: all"
        />
        <TextArea
          label="Names of events"
          name="names"
          rows={3}
          defaultValue={webhook?.names.join('\n')}
          placeholder={'failed\nsucceeded'}
          hint="One on each line; none: all"
        />
      </div>
    </FormDialog>
  )
}
