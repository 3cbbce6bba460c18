import { useState } from 'react'
import { routes, useCall } from '../api.ts'
import { basePath } from '../base-path.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { SelectField, TextField } from '../parts/form.tsx'
import { Panel } from '../parts/panel.tsx'
import { RelativeTime } from '../parts/time.tsx'
import './settings.css'

/** As a shell takes it: in quotes where it must be. */
const quote = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** How repositories announce their commits: commands with the right names in them. */
export function Hooks() {
  const archives = useCall(routes.archives.list)
  const items = archives.data?.items ?? []
  const [chosen, setChosen] = useState<string>()
  const [path, setPath] = useState('')
  const archive = items.find(({ name }) => name === chosen) ?? items[0]
  const name = archive?.name ?? 'My-Project'
  const url = `${location.origin}${basePath}`
  const isGit = archive?.source.type === 'git'
  const place = quote(path.trim() || (isGit ? '/srv/git/my-project.git' : '/srv/svn/my-project'))
  const flag = isGit ? '--git' : '--svn'
  const branch =
    archive?.source.type === 'git' && archive.source.branch ? ` --branch ${quote(archive.source.branch)}` : ''
  const install = `millrace hook install ${flag} ${place} --archive ${quote(name)}${branch} --server ${url}`
  return (
    <div className="stack">
      <Panel title="Which repository">
        <div className="stack">
          <p className="settings-note">
            A hook tells the server of a commit at once. Without one the server finds out by looking.
          </p>
          <div className="fields">
            <SelectField label="Archive" value={name} onChange={({ target }) => setChosen(target.value)}>
              {items.length === 0 && <option value={name}>{name}</option>}
              {items.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name}
                </option>
              ))}
            </SelectField>
            <TextField
              label="Where the repository lies on its host"
              isMono
              value={path}
              placeholder={isGit ? '/srv/git/my-project.git' : '/srv/svn/my-project'}
              onChange={({ target }) => setPath(target.value)}
            />
          </div>
          {archive !== undefined && (
            <p className="settings-note" role="status">
              {archive.announced_at === null ? (
                'No hook has announced anything of this archive yet.'
              ) : (
                <>
                  The last notice came <RelativeTime at={archive.announced_at} />.
                </>
              )}
            </p>
          )}
        </div>
      </Panel>
      <Panel title="Install it, on the host of the repository">
        <CodeBlock text={install} label="install the hook" />
      </Panel>
      <Panel title="Try it, and take it out again">
        <CodeBlock
          text={`millrace hook test ${flag} ${place}\nmillrace hook uninstall ${flag} ${place}`}
          label="test the hook"
        />
      </Panel>
      <Panel title="By hand, where nothing can be installed">
        <div className="stack">
          <p className="settings-note">
            In a hook of your own. The token may announce revisions of this archive and nothing else: make it under
            Tokens, or with <code>millrace token create</code>.
          </p>
          <CodeBlock text={byHand({ url, name, isGit })} label="hook by hand" />
        </div>
      </Panel>
    </div>
  )
}

function byHand({
  url,
  name,
  isGit,
}: {
  readonly url: string
  readonly name: string
  readonly isGit: boolean
}): string {
  const rev = isGit ? '\\"$(git rev-parse HEAD)\\"' : '$2'
  return [
    '#!/bin/sh',
    `curl -sS -m 10 -X POST ${quote(`${url}/v1/archives/${encodeURIComponent(name)}/commits`)} \\`,
    '  -H "Authorization: Bearer $(cat /etc/millrace/hook-token)" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d "{\\"rev\\": ${rev}}" >/dev/null 2>&1 &`,
  ].join('\n')
}
