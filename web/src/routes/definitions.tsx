import { getRouteApi } from '@tanstack/react-router'
import { routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'

const page = getRouteApi('/shell/archives/$name/definitions')

/** The workflow files of an archive as they were at a revision. */
export function Definitions() {
  const { name } = page.useParams()
  const { at } = page.useSearch()
  const archive = useCall(routes.archives.get, { params: { name } })
  useFresh([`archive:${name}`], ['archives.get'])
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
    >
      <Loaded query={archive}>
        {({ planned }) => <Files name={name} rev={at === undefined ? planned.number : Number(at.replace(/^r/, ''))} />}
      </Loaded>
    </Page>
  )
}

function Files({ name, rev }: { readonly name: string; readonly rev: number }) {
  const revision = useCall(routes.archives.revision, { params: { name, rev } })
  return (
    <Loaded
      query={revision}
      isEmpty={({ files }) => files.length === 0}
      empty={
        <Panel>
          <EmptyState title={`r${rev} has no workflow files`}>They lie in the folder _workflows.</EmptyState>
        </Panel>
      }
    >
      {({ files }) => (
        <div className="stack">
          {files.map(({ path, text }) => (
            <Panel key={path} title={<span className="mono">{path}</span>}>
              <CodeBlock text={text ?? '(not text)'} label={path} />
            </Panel>
          ))}
        </div>
      )}
    </Loaded>
  )
}
