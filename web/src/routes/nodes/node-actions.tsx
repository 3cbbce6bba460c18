import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, OctagonX, Pencil, Plus, RotateCw } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { call, routes, useRefusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Menu } from '../../parts/menu.tsx'
import { tell } from '../../parts/toast.tsx'
import type { Node, NodeType } from './form-data.ts'
import { AddChain, AddNode, EditNode, MoveNode, readVersioned } from './node-form.tsx'
import type { TreeRow } from './patch-row.ts'
import { type Removal, removalLimit, removalOf } from './removal.ts'
import { Waits } from './waits.ts'

type Dialog =
  | { readonly is: 'add' | 'chain' | 'kill' }
  | { readonly is: 'edit' | 'move'; readonly node: Node; readonly etag: string }
  | { readonly is: 'remove'; readonly isChain: boolean; readonly removal: Removal }

type NodeActionsProps = {
  readonly row: TreeRow
  readonly parentType: NodeType | undefined
  readonly onSelect: (id: string) => void
  readonly onRemoved: () => void
}

const ENDED = new Set(['finished', 'failed', 'killed', 'skipped'])

/** What can be done to a node, and why not where it cannot. */
export function NodeActions({ row, parentType, onSelect, onRemoved }: NodeActionsProps) {
  const [dialog, setDialog] = useState<Dialog>()
  const queries = useQueryClient()
  const waiting = useWaiting(row.id)
  const close = () => setDialog(undefined)
  const fresh = () => queries.invalidateQueries({ queryKey: [routes.nodes.get.name] })
  const refusals = useRefusals(row)
  const begin = async (is: 'edit' | 'move') => setDialog({ is, ...(await readVersioned(row.id)) })
  const beginRemove = async (isChain: boolean) => {
    const query = { down: row.id, limit: removalLimit(isChain), metadata: 'summary' }
    const found = await call(routes.nodes.list, { query })
    const rows = 'nodes' in found ? found.nodes : found
    setDialog({ is: 'remove', isChain, removal: removalOf(rows) })
  }
  const attempt = (work: Promise<unknown>) => {
    work.catch((error: Error) => tell(error.message, { isError: true }))
  }
  const kill = async () => {
    await call(routes.scheduler.kill, { body: { ids: [row.id] } })
    tell(`Node ${row.id} is being killed`)
    await fresh()
  }
  const remove = async (isChain: boolean) => {
    const query = { chain: isChain ? 'true' : 'false' } as const
    const { removed } = await call(routes.nodes.remove, { params: { id: row.id }, query })
    tell(removed === 1 ? `Node ${row.id} was removed` : `${removed} nodes were removed`)
    onRemoved()
  }
  const retry = async () => {
    await call(routes.tasks.retry, { params: { id: row.task } })
    tell(`Node ${row.id} runs again`)
    await fresh()
  }
  const name = `${row.id} ${row.summary}`
  return (
    <div className="row">
      <Button icon={Plus} refusal={refusals.add} onClick={() => setDialog({ is: 'add' })}>
        Add child
      </Button>
      <Button icon={Pencil} refusal={refusals.edit} onClick={() => attempt(begin('edit'))}>
        Edit
      </Button>
      <Button kind="danger" icon={OctagonX} refusal={refusals.kill} onClick={() => setDialog({ is: 'kill' })}>
        Kill
      </Button>
      {refusals.retry === undefined && (
        <Button icon={RotateCw} onClick={() => attempt(retry())}>
          Run again
        </Button>
      )}
      <Menu
        label="More actions"
        icon={Ellipsis}
        actions={[
          {
            id: 'chain',
            label: 'Add a chain below',
            refusal: refusals.add,
            onAction: () => setDialog({ is: 'chain' }),
          },
          { id: 'move', label: 'Move …', refusal: refusals.edit, onAction: () => attempt(begin('move')) },
          {
            id: 'wait',
            label: waiting.isOn ? 'Stop waiting' : 'Tell me when it has ended',
            refusal: ENDED.has(row.state) ? 'It has ended.' : undefined,
            onAction: waiting.toggle,
          },
          { id: 'remove', label: 'Remove …', refusal: refusals.remove, onAction: () => attempt(beginRemove(false)) },
          {
            id: 'remove-chain',
            label: 'Remove with all below …',
            refusal: refusals.removeChain,
            onAction: () => attempt(beginRemove(true)),
          },
        ]}
      />
      {waiting.isOn && (
        <span className="tree-tag" role="status">
          waiting for its end
        </span>
      )}
      <AddNode isOpen={dialog?.is === 'add'} onClose={close} parent={row} onAdded={onSelect} />
      <AddChain isOpen={dialog?.is === 'chain'} onClose={close} parent={row} onAdded={onSelect} />
      {dialog?.is === 'edit' && <EditNode isOpen {...dialog} parentType={parentType} onClose={closing(close, fresh)} />}
      {dialog?.is === 'move' && <MoveNode isOpen {...dialog} onClose={closing(close, fresh)} />}
      <Confirm
        isOpen={dialog?.is === 'kill'}
        onClose={close}
        title={`Kill node ${row.id}?`}
        objects={[name]}
        action="Kill"
        onConfirm={kill}
      >
        <p>
          {row.state === 'incipient'
            ? 'It will never start, and what waits for its success neither.'
            : 'It gets TERM, and after a while KILL, with all that it started.'}
        </p>
      </Confirm>
      {dialog?.is === 'remove' && (
        <Confirm
          isOpen
          onClose={close}
          title={`Remove ${dialog.removal.words}?`}
          objects={dialog.removal.objects}
          isCut={dialog.removal.isCut}
          action={dialog.removal.objects.length === 1 ? 'Remove' : `Remove ${dialog.removal.words}`}
          onConfirm={() => remove(dialog.isChain)}
        >
          <p>What has not started never will. This cannot be undone.</p>
        </Confirm>
      )}
    </div>
  )
}

const closing = (close: () => void, fresh: () => Promise<void>) => () => {
  close()
  void fresh()
}

type Refusals = Readonly<Record<'add' | 'edit' | 'kill' | 'remove' | 'removeChain' | 'retry', string | undefined>>

function useRefusals({ state, children }: TreeRow): Refusals {
  const byRole = {
    add: useRefusal(routes.nodes.add),
    change: useRefusal(routes.nodes.change),
    kill: useRefusal(routes.scheduler.kill),
    remove: useRefusal(routes.nodes.remove),
    retry: useRefusal(routes.tasks.retry),
  }
  const isRunning = state === 'running' || state === 'killing'
  const canRetry = state === 'failed' || state === 'killed' || state === 'skipped'
  const removal = byRole.remove ?? (isRunning ? 'It runs: kill it first.' : undefined)
  return {
    add: byRole.add,
    edit: byRole.change ?? (state === 'incipient' ? undefined : 'It has started: only what waits can be edited.'),
    kill: byRole.kill ?? (ENDED.has(state) ? 'It has ended.' : undefined),
    remove: removal ?? (children > 0 ? 'It has nodes below: remove it with them.' : undefined),
    removeChain: removal ?? (children === 0 ? 'There is nothing below it.' : undefined),
    retry: byRole.retry ?? (canRetry ? undefined : 'It has not failed.'),
  }
}

const waits = new Waits({
  async ask(id, signal) {
    const headers = { prefer: 'wait=55' }
    const { nodes } = await call(routes.scheduler.wait, { query: { id } }, { signal, headers })
    const state = nodes[0]?.state
    return state !== undefined && ENDED.has(state) ? state : undefined
  },
  onEnd: (id, state) => tell(`Node ${id}: ${state}`, { isError: state === 'failed' }),
  onError: ({ message }) => tell(message, { isError: true }),
})

/** Waits on the server for the end of a node, and says it; also when another node is looked at meanwhile. */
function useWaiting(id: string): { readonly isOn: boolean; readonly toggle: () => void } {
  const isOn = useSyncExternalStore(waits.watch, () => waits.isOn(id))
  return { isOn, toggle: () => waits.toggle(id) }
}
