import { getRouteApi } from '@tanstack/react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Link } from '../../parts/link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { DiffView } from '../../parts/source/diff-view.tsx'
import { SourceView } from '../../parts/source/source-view.tsx'
import type { Revision } from './graph-of-revision.ts'

const page = getRouteApi('/shell/archives/$name/r/$rev')

/** The workflow files as they were at this revision. */
export function WorkflowFiles({ found }: { readonly found: Revision }) {
  const { file: meant, line } = page.useSearch()
  if (found.files.length === 0) {
    return (
      <Panel>
        <EmptyState title="This revision has no workflow files">They lie in the folder _workflows.</EmptyState>
      </Panel>
    )
  }
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
              line={meant === path && line !== undefined ? Number(line) : undefined}
              marks={found.problems.flatMap(({ file, line: at, severity, message }) =>
                file === path && at !== null ? [{ line: at, severity, message }] : [],
              )}
            />
          )}
        </Panel>
      ))}
    </div>
  )
}

/** How the workflow files differ from those of the revision before. */
export function DefinitionDiff({ found }: { readonly found: Revision }) {
  const { name } = page.useParams()
  const { previous, previous_files: before, files } = found
  if (before === null) {
    return (
      <Panel>
        <EmptyState title={previous === null ? 'This is the first revision' : `The same as at r${previous}`}>
          {previous === null
            ? 'There is nothing to compare its workflow files with.'
            : 'This commit did not change the workflow files.'}
        </EmptyState>
      </Panel>
    )
  }
  const old = new Map(before.map(({ path, text }) => [path, text]))
  const now = new Map(files.map(({ path, text }) => [path, text]))
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort()
  return (
    <Panel
      title={
        <>
          Against{' '}
          {previous !== null && (
            <Link to="/archives/$name/r/$rev" params={{ name, rev: String(previous) }}>
              r{previous}
            </Link>
          )}
        </>
      }
    >
      <div className="stack">
        {paths
          .filter((path) => old.get(path) !== now.get(path))
          .map((path) => (
            <DiffView key={path} path={path} before={old.get(path) ?? ''} after={now.get(path) ?? ''} />
          ))}
      </div>
    </Panel>
  )
}
