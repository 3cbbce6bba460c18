import { useState } from 'react'
import { call, open, routes } from '../../api.ts'
import { FormDialog, SelectField, TextArea, TextField } from '../../parts/form.tsx'
import { tell } from '../../parts/toast.tsx'
import {
  chainOf,
  changesOf,
  dataOf,
  type Filled,
  filledOf,
  type NewNode,
  type Node,
  type NodeType,
} from './form-data.ts'

const typeWords: Readonly<Record<NodeType, string>> = {
  'shell command': 'Shell command',
  command: 'Command without a shell',
  condition: 'Condition: wait until something is so',
  if: 'If: its exit chooses among its children',
  sleep: 'Sleep',
}

type Parent = { readonly id: string; readonly type?: NodeType | undefined }

type DialogProps = { readonly isOpen: boolean; readonly onClose: () => void }

/** Adds one node below another, or at the top. */
export function AddNode({
  isOpen,
  onClose,
  parent,
  onAdded,
}: DialogProps & { readonly parent: Parent; readonly onAdded: (id: string) => void }) {
  const [type, setType] = useState<NodeType>('shell command')
  const add = async (given: FormData) => {
    const metadata = { type, parent: parent.id, ...placeOf(given) } as NewNode['metadata']
    const [added] = await call(routes.nodes.add, { body: [{ metadata, data: dataOf(given) }] }, onceOnly())
    tell(`Node ${added?.id} was added`)
    if (added !== undefined) onAdded(added.id)
  }
  const title = parent.id === 'root' ? 'Add a tree' : `Add a node below ${parent.id}`
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title={title} action="Add" onSubmit={add}>
      <SelectField label="Type" value={type} onChange={({ target }) => setType(target.value as NodeType)}>
        {Object.entries(typeWords).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      <Work type={type} filled={{}} />
      <Place parent={parent} runIf="success" branch="then" />
      <TextArea
        label="More data"
        name="more"
        placeholder='{"note": "mine"}'
        hint="Keys of your own, as a JSON object"
      />
    </FormDialog>
  )
}

/** Adds commands that run one after another. */
export function AddChain({
  isOpen,
  onClose,
  parent,
  onAdded,
}: DialogProps & { readonly parent: Parent; readonly onAdded: (id: string) => void }) {
  const add = async (given: FormData) => {
    const body = chainOf(String(given.get('commands') ?? ''), parent.id)
    const added = await call(routes.nodes.add, { body }, onceOnly())
    tell(`${added.length} nodes were added`)
    const [first] = added
    if (first !== undefined) onAdded(first.id)
  }
  const title = parent.id === 'root' ? 'Add a chain' : `Add a chain below ${parent.id}`
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title={title} action="Add the chain" onSubmit={add}>
      <TextArea
        label="Commands"
        name="commands"
        rows={6}
        required
        placeholder={'make\nmake test\nmake install'}
        hint="One on each line, for the shell. Each runs when the one before has succeeded."
      />
    </FormDialog>
  )
}

type EditProps = DialogProps & { readonly node: Node; readonly parentType: NodeType | undefined; readonly etag: string }

/** Edits a node that has not started. What others changed meanwhile is not overwritten. */
export function EditNode({ isOpen, onClose, node, parentType, etag }: EditProps) {
  const { metadata } = node
  const [type, setType] = useState<NodeType>(metadata.type)
  const edit = async (given: FormData) => {
    const before = new FormData()
    for (const [name, value] of Object.entries(filledOf(node))) before.set(name, value)
    const data = changesOf(dataOf(before), dataOf(given))
    const place = { ...(type === metadata.type ? {} : { type }), ...placeOf(given) }
    await call(routes.nodes.change, { params: { id: node.id }, body: { metadata: place, data } }, { ifMatch: etag })
    tell(`Node ${node.id} was changed`)
  }
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title={`Edit node ${node.id}`} action="Save" onSubmit={edit}>
      <SelectField label="Type" value={type} onChange={({ target }) => setType(target.value as NodeType)}>
        {Object.entries(typeWords).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      <Work type={type} filled={filledOf(node)} />
      <Place
        parent={{ id: metadata.parent, type: parentType }}
        runIf={metadata.run_if}
        branch={metadata.branch ?? 'then'}
      />
    </FormDialog>
  )
}

/** Moves a node that has not started below another. */
export function MoveNode({
  isOpen,
  onClose,
  node,
  etag,
}: DialogProps & { readonly node: Node; readonly etag: string }) {
  const move = async (given: FormData) => {
    const parent = String(given.get('parent') ?? '').trim()
    const asked = { params: { id: node.id }, body: { metadata: { parent } } }
    await call(routes.nodes.change, asked, { ifMatch: etag })
    tell(`Node ${node.id} is below ${parent} now`)
  }
  return (
    <FormDialog isOpen={isOpen} onClose={onClose} title={`Move node ${node.id}`} action="Move" onSubmit={move}>
      <TextField
        label="New parent"
        name="parent"
        required
        isMono
        defaultValue={node.metadata.parent}
        hint="The number of a node, or root. It starts when that one has ended."
      />
    </FormDialog>
  )
}

const onceOnly = () => ({ idempotencyKey: Math.random().toString(36).slice(2) + Date.now().toString(36) })

function placeOf(given: FormData): Pick<NewNode['metadata'], 'run_if' | 'branch'> {
  const runIf = given.get('run_if')
  const branch = given.get('branch')
  return {
    ...(runIf === null ? {} : { run_if: runIf as 'success' }),
    ...(branch === null ? {} : { branch: branch as 'then' }),
  }
}

/** Reads a node anew, with the version that an edit must name. */
export async function readVersioned(id: string): Promise<{ readonly node: Node; readonly etag: string }> {
  const response = await open(routes.nodes.get, { params: { id } })
  return { node: (await response.json()) as Node, etag: response.headers.get('etag') ?? '*' }
}

/** The fields of what a type does. */
function Work({ type, filled }: { readonly type: NodeType; readonly filled: Filled }) {
  if (type === 'sleep') {
    return <TextField label="Seconds" name="seconds" inputMode="decimal" required defaultValue={filled['seconds']} />
  }
  const isShell = type === 'shell command'
  return (
    <>
      {isShell ? (
        <TextArea
          label="Command"
          name="command"
          rows={3}
          required
          defaultValue={filled['command']}
          spellCheck={false}
        />
      ) : (
        <>
          <TextField
            label="Command"
            name="command"
            isMono
            required={type !== 'condition'}
            defaultValue={filled['command']}
            spellCheck={false}
          />
          <TextArea label="Arguments" name="args" rows={2} defaultValue={filled['args']} hint="One on each line" />
        </>
      )}
      {type === 'condition' && (
        <div className="fields">
          <TextField label="Or a file that exists" name="file" isMono defaultValue={filled['file']} />
          <TextField label="Or a time" name="time" defaultValue={filled['time']} placeholder="2026-02-03T10:20:30Z" />
        </div>
      )}
      <div className="fields">
        <TextField label="Folder" name="cwd" isMono defaultValue={filled['cwd']} placeholder="a fresh one" />
        <TextField label="Time limit" name="timeout" defaultValue={filled['timeout']} placeholder="none; 30s, 5m, 2h" />
      </div>
      <TextArea label="Environment" name="env" rows={2} defaultValue={filled['env']} placeholder="NAME=value" />
    </>
  )
}

/** When it runs, seen from its parent. */
function Place({
  parent,
  runIf,
  branch,
}: {
  readonly parent: Parent
  readonly runIf: string
  readonly branch: string
}) {
  if (parent.id === 'root') return null
  return (
    <div className="fields">
      <SelectField label="Runs after" name="run_if" defaultValue={runIf}>
        <option value="success">success of its parent</option>
        <option value="failure">failure of its parent</option>
        <option value="always">any end of its parent</option>
      </SelectField>
      {parent.type === 'if' && (
        <SelectField label="Branch" name="branch" defaultValue={branch}>
          <option value="then">then</option>
          <option value="else">else</option>
        </SelectField>
      )}
    </div>
  )
}
