import { getRouteApi } from '@tanstack/react-router'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { GraphPanel } from '../parts/graph/graph-panel.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { Findings } from '../parts/source/findings.tsx'
import { SourceView } from '../parts/source/source-view.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { NextPlan } from './definitions/next-plan.tsx'
import { RunByHand } from './definitions/run-by-hand.tsx'
import { PlannedSchedules } from './definitions/schedules.tsx'
import './definitions/definitions.css'

const page = getRouteApi('/shell/archives/$name/definitions')

type Definition = BodyAnswered<typeof routes.definitions.get>

/** The workflow files of an archive at a revision, what is wrong with them, and what they mean. */
export function Definitions() {
  const { name } = page.useParams()
  const search = page.useSearch()
  const rev = (search.rev ?? search.at)?.replace(/^r/, '')
  const definition = useCall(routes.definitions.get, { params: { name }, query: rev === undefined ? {} : { rev } })
  // A revision's files never change; only which one is the newest does.
  useFresh(rev === undefined ? [`archive:${name}`] : [], ['archives.definition'])
  return (
    <Page
      title={`Definitions of ${name}`}
      crumbs={
        <>
          <Link to="/archives">Archives</Link>
          <Link to="/archives/$name" params={{ name }} className="name">
            {name}
          </Link>
        </>
      }
      summary={<Choose name={name} rev={rev} found={definition.data} />}
    >
      <Loaded
        query={definition}
        isEmpty={({ files }) => files.length === 0}
        empty={
          <Panel>
            <EmptyState title="There are no workflow files at this revision" command="millrace workflow init">
              They lie in the folder _workflows of the repository. This writes one to begin with; commit it.
            </EmptyState>
          </Panel>
        }
      >
        {(found) => <Content name={name} found={found} />}
      </Loaded>
    </Page>
  )
}

function Choose({ name, rev, found }: { name: string; rev: string | undefined; found: Definition | undefined }) {
  const navigate = page.useNavigate()
  const choose = (form: FormData) => {
    const given = ((form.get('rev') ?? '') as string).trim().replace(/^r/, '')
    void navigate({ search: (old) => ({ tab: old.tab, ...(given === '' ? {} : { rev: given }) }) })
  }
  return (
    <form className="row definitions-choose" action={choose}>
      <label className="row">
        At revision
        <input
          key={rev}
          className="input"
          name="rev"
          inputMode="numeric"
          defaultValue={rev ?? ''}
          placeholder={found === undefined ? '' : `${found.rev}, the newest`}
        />
      </label>
      <button type="submit" className="button button-plain">
        Show
      </button>
      {rev !== undefined && (
        <Link to="/archives/$name/definitions" params={{ name }}>
          Newest
        </Link>
      )}
      {found !== undefined && (
        <Link to="/archives/$name/r/$rev" params={{ name, rev: String(found.rev) }}>
          Revision r{found.rev}
        </Link>
      )}
    </form>
  )
}

function Content({ name, found }: { readonly name: string; readonly found: Definition }) {
  const { tab = 'files' } = page.useSearch()
  const navigate = page.useNavigate()
  const textOf = (file: string) => found.files.find(({ path }) => path === file)?.text
  return (
    <div className="stack">
      {found.problems.length > 0 && (
        <Panel title={found.graph === null ? 'The files have errors' : 'Warnings'} isFlush>
          <Findings
            findings={found.problems}
            textOf={textOf}
            linkTo={(file, line, words) => (
              <Link
                to="/archives/$name/definitions"
                params={{ name }}
                search={(old) => ({ ...old, tab: 'files', file, line: String(line) })}
                resetScroll={false}
              >
                {words}
              </Link>
            )}
          />
        </Panel>
      )}
      <Tabs
        label="Parts of the definition"
        open={tab}
        onOpen={(id) =>
          void navigate({
            search: ({ file: _file, line: _line, ...old }) => ({ ...old, tab: id === 'files' ? undefined : id }),
            replace: true,
            resetScroll: false,
          })
        }
        items={[
          { id: 'files', label: `Files (${found.files.length})`, content: <Files found={found} /> },
          { id: 'graph', label: 'Graph', content: <Preview found={found} /> },
          { id: 'plan', label: 'Next commit', content: <NextPlan name={name} rev={found.rev} /> },
          {
            id: 'schedules',
            label: `Schedules (${found.schedules.length})`,
            content: <PlannedSchedules schedules={found.schedules} />,
          },
          { id: 'run', label: 'Run by hand', content: <RunByHand name={name} found={found} /> },
        ]}
      />
    </div>
  )
}

function Files({ found }: { readonly found: Definition }) {
  const { file, line } = page.useSearch()
  return (
    <div className="stack">
      {found.files.map(({ path, text }) => (
        <Panel key={path} title={<span className="mono name">{path}</span>}>
          {text === undefined ? (
            <p className="muted">This file is not text.</p>
          ) : (
            <SourceView
              path={path}
              text={text}
              line={file === path && line !== undefined ? Number(line) : undefined}
              marks={found.problems.filter((problem) => problem.file === path)}
            />
          )}
        </Panel>
      ))}
    </div>
  )
}

function Preview({ found: { graph } }: { readonly found: Definition }) {
  const { view } = page.useSearch()
  const navigate = page.useNavigate()
  if (graph === null) {
    return (
      <Panel>
        <EmptyState title="There is no graph">With an error in any file, nobody knows what was meant.</EmptyState>
      </Panel>
    )
  }
  return (
    <GraphPanel
      title="What waits for what"
      graph={graph}
      view={view}
      onView={(next) => void navigate({ search: (old) => ({ ...old, view: next }), replace: true, resetScroll: false })}
    />
  )
}
