import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { call, type Role, routes, useCall } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { FormDialog, SelectField, TextField } from '../../parts/form.tsx'
import { Panel } from '../../parts/panel.tsx'
import { SecretShown } from './secret-shown.tsx'

export const roleWords: Readonly<Record<Role, string>> = {
  viewer: 'viewer: looks',
  submitter: 'submitter: also adds work',
  operator: 'operator: also retries, cancels, kills',
  admin: 'admin: also tokens, secrets, webhooks',
}

const rising: readonly Role[] = ['viewer', 'submitter', 'operator', 'admin']

/** Links that sign one browser in, for one's own role or a lower one. */
export function SignInLinks() {
  const { data: me } = useCall(routes.session.me)
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<{ readonly url: string; readonly role: string }>()
  const allowed = rising.slice(0, rising.indexOf(me?.role ?? 'viewer') + 1)
  const make = async (given: FormData) => {
    const name = String(given.get('name')).trim()
    const role = String(given.get('role')) as Role
    setMade(await call(routes.session.link, { body: { role, ...(name === '' ? {} : { name }) } }))
  }
  return (
    <Panel
      title="Sign-in links"
      actions={
        <Button icon={Link2} onClick={() => setOpen(true)}>
          Make a link
        </Button>
      }
    >
      <div className="stack">
        <p className="settings-note">
          A link signs one browser in, once, within 15 minutes. The session ends after 7 days, or with what it came
          from.
        </p>
        {made !== undefined && (
          <SecretShown title={`Link for a ${made.role}`} text={made.url} onDone={() => setMade(undefined)}>
            It works once, within 15 minutes, and is not shown again.
          </SecretShown>
        )}
      </div>
      <FormDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Make a sign-in link"
        action="Make the link"
        onSubmit={make}
      >
        <SelectField label="Role" name="role" defaultValue={me?.role ?? 'viewer'}>
          {allowed.map((role) => (
            <option key={role} value={role}>
              {roleWords[role]}
            </option>
          ))}
        </SelectField>
        <TextField label="For whom" name="name" hint="For the record; you, when it is empty" />
      </FormDialog>
    </Panel>
  )
}
