import { useQueryClient } from '@tanstack/react-query'
import { Pencil, Plus } from 'lucide-react'
import { useState } from 'react'
import { call, open, routes, textOf, useCall, useRefusal } from '../../api.ts'
import { type Json, memberOf, readJson } from '../../json.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import { FormDialog, fieldOf, TextArea, TextField } from '../../parts/form.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/panel.tsx'
import { tell } from '../../parts/toast.tsx'
import { MOST_BYTES, toEdit } from './edit-value.ts'
import { type Node, parseExact } from './form-data.ts'

const WRITTEN_BY_SERVER = new Set(['result', 'signal', 'error', 'stdout', 'stderr', 'mixedout'])
const MEANT = new Set(
  'command args cwd env timeout umask limits image mounts network memory cpus file time interval seconds run_if branch rerun_if_lost'.split(
    ' ',
  ),
)

type Edited = { readonly key: string; readonly text: string; readonly etag: string | undefined }

/** The data of a node, key by key. What it means to the server can be changed until the node starts. */
export function NodeData({ node }: { readonly node: Node }) {
  const refusal = useRefusal(routes.nodes.write)
  const [edited, setEdited] = useState<Edited>()
  const json = readJson(textOf(node))
  const keys = [...Object.keys(node.data), ...(node.omitted ?? [])].sort()
  const isStarted = node.metadata.state !== 'incipient'
  const edit = async (key: string) => {
    const response = await open(routes.nodes.read, { params: { id: node.id, key }, query: { limit: MOST_BYTES } })
    const etag = response.headers.get('etag') ?? undefined
    setEdited({ key, text: toEdit(node.id, key, await response.text()), etag })
  }
  const reason = (key: string) => {
    if (WRITTEN_BY_SERVER.has(key)) return `${key} is written by the server.`
    if (MEANT.has(key) && isStarted) return `${key} can be changed until the node starts.`
    return refusal
  }
  return (
    <div className="stack">
      <dl className="node-data">
        {keys.map((key) => (
          <div key={key} className="node-data-row">
            <dt>
              <code className="name">{key}</code>
            </dt>
            <dd>
              <div>
                <Value node={node} name={key} json={memberOf(json, 'data', key)} />
              </div>
              <IconButton
                icon={Pencil}
                label={`Change ${key}`}
                refusal={reason(key)}
                onClick={() => {
                  edit(key).catch((error: Error) => tell(error.message, { isError: true }))
                }}
              />
            </dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <Button icon={Plus} refusal={refusal} onClick={() => setEdited({ key: '', text: '', etag: undefined })}>
          Add a key
        </Button>
      </div>
      {edited !== undefined && <EditValue id={node.id} edited={edited} onClose={() => setEdited(undefined)} />}
    </div>
  )
}

function Value({ node, name, json }: { readonly node: Node; readonly name: string; readonly json: Json | undefined }) {
  if (json === undefined) return <LargeValue id={node.id} name={name} />
  if (json.is === 'literal') return <code>{json.text}</code>
  if (json.is === 'string') return <code className="name node-data-text">{json.value || '""'}</code>
  return <JsonView json={json} label={name} />
}

function LargeValue({ id, name }: { readonly id: string; readonly name: string }) {
  const [isShown, setShown] = useState(false)
  if (!isShown) {
    return (
      <Button kind="quiet" onClick={() => setShown(true)}>
        Show its beginning
      </Button>
    )
  }
  return <Beginning id={id} name={name} />
}

function Beginning({ id, name }: { readonly id: string; readonly name: string }) {
  const value = useCall(routes.nodes.read, { params: { id, key: name }, query: { limit: 4096 } })
  return (
    <Loaded query={value}>
      {({ data, pagination }) => (
        <>
          <CodeBlock text={typeof data === 'string' ? data : JSON.stringify(data, null, 2)} label={name} />
          {pagination !== undefined && <span className="muted">There is more, or may be.</span>}
        </>
      )}
    </Loaded>
  )
}

function EditValue({
  id,
  edited,
  onClose,
}: {
  readonly id: string
  readonly edited: Edited
  readonly onClose: () => void
}) {
  const queries = useQueryClient()
  const isNew = edited.key === ''
  const save = async (given: FormData) => {
    const key = isNew ? fieldOf(given, 'key').trim() : edited.key
    const value = parseExact(fieldOf(given, 'value'))
    // A new key is set only if nobody has set it meanwhile.
    const asked = { params: { id, key }, body: { value }, ...(isNew ? { query: { start: '' } } : {}) }
    await call(routes.nodes.write, asked, edited.etag === undefined ? {} : { ifMatch: edited.etag })
    tell(`${key} of node ${id} was set`)
    await queries.invalidateQueries({ queryKey: [routes.nodes.get.name] })
  }
  const title = isNew ? `Add a key to node ${id}` : `Change ${edited.key} of node ${id}`
  return (
    <FormDialog isOpen onClose={onClose} title={title} action="Save" onSubmit={save}>
      {isNew && <TextField label="Key" name="key" required isMono />}
      <TextArea
        label="Value"
        name="value"
        rows={6}
        required
        defaultValue={edited.text}
        placeholder='"a text", 42 or {"any": "JSON"}'
        hint="As JSON: a text stands in quotes"
      />
    </FormDialog>
  )
}
