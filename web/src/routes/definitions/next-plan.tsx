import { getRouteApi } from '@tanstack/react-router'
import { type BodyAnswered, routes, useCall } from '../../api.ts'
import { useFresh } from '../../live.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { GraphPanel } from '../../parts/graph/graph-panel.tsx'
import { Loaded, Panel } from '../../parts/panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'

const page = getRouteApi('/shell/archives/$name/definitions')

type Plan = BodyAnswered<typeof routes.definitions.plan>
type Planned = Plan['tasks'][number]
type Absent = Plan['absent'][number]

const reasons: Readonly<Record<Absent['reason'], string>> = {
  skip_marker: 'the message tells to skip it',
  other_trigger: 'no commit starts its workflow',
  not_chosen: 'it was not chosen',
  paths: 'no changed path matches its filter',
  author: 'the author does not match',
  condition: 'its condition does not hold',
  cannot_fail: 'it waits for the failure of a task that is absent',
}

const short = (key: string) => key.slice(key.lastIndexOf('@') + 1).replace(/^(\d+):/, 'r$1 ')

const columns: readonly Column<Planned>[] = [
  { id: 'name', head: 'Task', cell: ({ name }) => <span className="mono name">{name}</span> },
  {
    id: 'requires',
    head: 'Waits for',
    isWide: true,
    cell: ({ requires, cancels }) => (
      <ul className="definitions-edges">
        {requires.map(({ key, when, because, instead_of: absent }) => (
          <li key={`${key} ${when}`}>
            <code aria-hidden="true">&lt;--</code> <span className="mono name">{short(key)}</span>
            <span className="muted">
              {when === 'succeeded' ? '' : ` ${when}`}
              {because === 'implicit' && ', added implicitly'}
              {because === 'exclusive' && ', both are exclusive'}
              {absent !== null && `, instead of ${absent}, which is absent`}
            </span>
          </li>
        ))}
        {cancels.map((key) => (
          <li key={`cancels ${key}`}>
            <code aria-hidden="true">&lt;!=</code> cancels <span className="mono name">{short(key)}</span>
          </li>
        ))}
      </ul>
    ),
  },
  { id: 'queue', head: 'Queue', isMinor: true, cell: ({ queue }) => queue ?? '' },
  { id: 'image', head: 'Image', isMinor: true, cell: ({ image }) => <span className="name">{image ?? ''}</span> },
]

const absentColumns: readonly Column<Absent>[] = [
  { id: 'name', head: 'Task', cell: ({ name }) => <span className="mono name">{name}</span> },
  { id: 'workflow', head: 'Workflow', isMinor: true, cell: ({ workflow }) => workflow },
  { id: 'reason', head: 'Why', isWide: true, cell: ({ reason }) => reasons[reason] },
]

/** What the next commit would add, and what it would cancel. */
export function NextPlan({ name, rev }: { readonly name: string; readonly rev: number }) {
  const { author, message, paths } = page.useSearch()
  const path = (paths ?? '').split(/[\s,]+/).filter((one) => one !== '')
  const plan = useCall(routes.definitions.plan, {
    params: { name },
    query: {
      rev: String(rev),
      ...(author === undefined ? {} : { author }),
      ...(message === undefined ? {} : { message }),
      ...(path.length === 0 ? {} : { path }),
    },
  })
  useFresh([`archive:${name}`], ['archives.plan'])
  return (
    <div className="stack">
      <Panel title="Were there a commit">
        <Commit author={author} message={message} paths={paths} />
      </Panel>
      <Loaded query={plan}>{(found) => <Shown plan={found} />}</Loaded>
    </div>
  )
}

function Commit(given: { author: string | undefined; message: string | undefined; paths: string | undefined }) {
  const navigate = page.useNavigate()
  const submit = (form: FormData) => {
    const of = (field: string) => ((form.get(field) ?? '') as string).trim() || undefined
    void navigate({
      search: (old) => ({ ...old, author: of('author'), message: of('message'), paths: of('paths') }),
      resetScroll: false,
    })
  }
  return (
    <form className="definitions-commit" action={submit}>
      <label>
        by
        <input className="input" name="author" defaultValue={given.author} placeholder="anybody" />
      </label>
      <label>
        saying
        <input className="input" name="message" defaultValue={given.message} placeholder="nothing" />
      </label>
      <label>
        changing
        <input className="input" name="paths" defaultValue={given.paths} placeholder="src/a.c, docs/b.md" />
      </label>
      <button type="submit" className="button button-plain">
        Plan
      </button>
    </form>
  )
}

function Shown({ plan }: { readonly plan: Plan }) {
  const { view } = page.useSearch()
  const navigate = page.useNavigate()
  const canceled = plan.tasks.flatMap(({ cancels }) => cancels)
  return (
    <>
      <Panel
        title={`r${plan.rev} would add ${plan.tasks.length} ${plan.tasks.length === 1 ? 'task' : 'tasks'}`}
        isFlush
      >
        <Table label="What would be added" columns={columns} rows={plan.tasks} rowKey={({ key }) => key} />
        <p className="definitions-note">
          {canceled.length === 0 ? 'Nothing would be canceled.' : `It would cancel ${canceled.map(short).join(', ')}.`}
        </p>
      </Panel>
      {plan.absent.length > 0 && (
        <Panel title="Left out" isFlush>
          <Table
            label="What would be left out"
            columns={absentColumns}
            rows={plan.absent}
            rowKey={({ name, workflow }) => `${workflow} ${name}`}
          />
        </Panel>
      )}
      <GraphPanel
        title="Graph of the next revision"
        graph={plan.graph}
        view={view}
        onView={(next) =>
          void navigate({ search: (old) => ({ ...old, view: next }), replace: true, resetScroll: false })
        }
      />
      <Panel title="In the notation of millrace workflow plan">
        <CodeBlock text={plan.notation} label="the plan" />
      </Panel>
    </>
  )
}
