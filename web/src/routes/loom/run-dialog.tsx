// Starts a workflow by hand, at a revision, with its inputs.
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { type BodyAnswered, call, routes, useCall } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/panel.tsx'
import { tell } from '../../parts/toast.tsx'

type Workflow = BodyAnswered<typeof routes.definitions.get>['workflows'][number]
type RunProps = { readonly name: string; readonly onClose: () => void }

export function RunDialog({ name, onClose }: RunProps) {
  const definition = useCall(routes.definitions.get, { params: { name }, query: {} })
  return (
    <ModalOverlay className="veil" isOpen onOpenChange={(isOpen) => isOpen || onClose()} isDismissable>
      <Modal className="modal">
        <Dialog className="confirm">
          <Heading slot="title">Run a workflow</Heading>
          <Loaded
            query={definition}
            isEmpty={({ workflows }) => workflows.length === 0}
            empty={
              <>
                <p>The newest revision has no workflow that could run, or its files have errors.</p>
                <Button onClick={onClose}>Close</Button>
              </>
            }
          >
            {({ workflows, rev }) => <RunForm name={name} rev={rev} workflows={workflows} onClose={onClose} />}
          </Loaded>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

type FormProps = RunProps & { readonly rev: number; readonly workflows: readonly Workflow[] }

function RunForm({ name, rev, workflows, onClose }: FormProps) {
  const [chosen, setChosen] = useState(workflows[0]?.name ?? '')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const queries = useQueryClient()
  const workflow = workflows.find((one) => one.name === chosen)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const given = new FormData(event.currentTarget)
      const planned = await call(routes.runs.create, { params: { name }, body: toBody(workflow, given) })
      tell(`Planned ${planned.tasks.length} tasks of ${chosen} at r${planned.rev}`)
      void queries.invalidateQueries({ queryKey: [routes.archives.get.name] })
      onClose()
    } catch (refused) {
      setError((refused as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="loom-run" onSubmit={(event) => void submit(event)}>
      <label>
        Workflow
        <select className="input" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          {workflows.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
        <small>{workflow?.tasks.join(', ')}</small>
      </label>
      <label>
        Revision
        <input className="input" name="rev" type="number" min={1} max={rev} defaultValue={rev} required />
      </label>
      {workflow?.inputs.map((input) => (
        <Input key={`${chosen} ${input.name}`} input={input} />
      ))}
      {error !== undefined && (
        <p className="confirm-error" role="alert">
          {error}
        </p>
      )}
      <div className="row confirm-actions">
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Run {chosen}
        </Button>
      </div>
    </form>
  )
}

function Input({ input }: { readonly input: Workflow['inputs'][number] }) {
  const { name, options, description, is_required: isRequired } = input
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of the two below
    <label>
      <span className="name">{name}</span>
      {options === null ? (
        <input className="input" name={`input ${name}`} defaultValue={input.default ?? ''} required={isRequired} />
      ) : (
        <select className="input" name={`input ${name}`} defaultValue={input.default ?? options[0]}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
      {description !== null && <small>{description}</small>}
    </label>
  )
}

/** A field of text; none of the form's fields is a file. */
function textIn(given: FormData, name: string): string {
  const value = given.get(name)
  return typeof value === 'string' ? value : ''
}

function toBody(workflow: Workflow | undefined, given: FormData) {
  const inputs = workflow?.inputs.map(({ name }) => [name, textIn(given, `input ${name}`)] as const) ?? []
  return {
    workflow: workflow?.name ?? '',
    rev: Number(given.get('rev')),
    inputs: Object.fromEntries(inputs.filter(([, value]) => value !== '')),
  }
}
