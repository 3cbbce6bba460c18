import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type BodyAnswered, call, routes, useRefusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'
import { tell } from '../../parts/toast.tsx'

type Definition = BodyAnswered<typeof routes.definitions.get>
type Workflow = Definition['workflows'][number]

const page = getRouteApi('/shell/archives/$name/definitions')

/** Runs a workflow at the revision that is shown, with the inputs that it declares. */
export function RunByHand({ name, found }: { readonly name: string; readonly found: Definition }) {
  const { workflow: chosen } = page.useSearch()
  const shown = found.workflows.filter((one) => chosen === undefined || one.name === chosen)
  if (shown.length === 0) {
    return (
      <Panel>
        <EmptyState title="There is nothing to run">With an error in any file no workflow can be run.</EmptyState>
      </Panel>
    )
  }
  return (
    <div className="stack">
      {shown.map((workflow) => (
        <Panel key={workflow.name} title={<span className="name">{workflow.name}</span>}>
          <RunForm name={name} rev={found.rev} workflow={workflow} />
        </Panel>
      ))}
    </div>
  )
}

function RunForm({ name, rev, workflow }: { name: string; rev: number; workflow: Workflow }) {
  const navigate = useNavigate()
  const refusal = useRefusal(routes.runs.create)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  // Not as the form's action: React would empty the fields after it, also when the run was refused.
  const run = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    const form = new FormData(event.currentTarget)
    const given = workflow.inputs.map((input) => [input.name, (form.get(input.name) ?? '') as string] as const)
    const inputs = Object.fromEntries(given.filter(([, value]) => value !== ''))
    try {
      const body = { workflow: workflow.name, rev, inputs }
      const { tasks } = await call(routes.runs.create, { params: { name }, body })
      tell(`${workflow.name} runs at r${rev}: ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}.`)
      await navigate({ to: '/archives/$name/r/$rev', params: { name, rev: String(rev) } })
    } catch (refused) {
      setError((refused as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="definitions-run" onSubmit={(event) => void run(event)}>
      <p className="muted name">Tasks: {workflow.tasks.join(', ')}</p>
      {workflow.inputs.map((input) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: it holds an input or a select
        <label key={input.name}>
          <span>
            <span className="mono name">{input.name}</span>
            {input.is_required && ' (needed)'}{' '}
            {input.description !== null && <span className="muted">{input.description}</span>}
          </span>
          {input.options === null ? (
            <input
              className="input"
              name={input.name}
              defaultValue={input.default ?? ''}
              required={input.is_required}
            />
          ) : (
            <select className="input" name={input.name} defaultValue={input.default ?? ''}>
              {input.options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          )}
        </label>
      ))}
      {error !== undefined && <p role="alert">{error}</p>}
      <Button type="submit" kind="primary" refusal={refusal} isBusy={isBusy}>
        Run {workflow.name} at r{rev}
      </Button>
    </form>
  )
}
