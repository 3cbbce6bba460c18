import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { Component, type ReactNode, useId } from 'react'
import { queryOf, routes, ServerRefused } from '../api.ts'
import { personOf } from '../person.ts'
import { Button } from './button.tsx'
import { CodeInText } from './code-in-text.tsx'
import { RelativeTime } from './time.tsx'
import './panel.css'

type PanelProps = {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  /** Its content touches the edges, as a table does. */
  readonly isFlush?: boolean
  readonly children: ReactNode
}

/** A part of a page with a title. What breaks inside stays inside. */
export function Panel({ title, actions, isFlush = false, children }: PanelProps) {
  const heading = useId()
  return (
    <section className="panel" aria-labelledby={title === undefined ? undefined : heading}>
      {title !== undefined && (
        <header className="panel-head">
          <h2 id={heading}>{title}</h2>
          {actions !== undefined && <div className="row">{actions}</div>}
        </header>
      )}
      <div className={isFlush ? 'panel-flush' : 'panel-body'}>
        <Boundary>{children}</Boundary>
      </div>
    </section>
  )
}

type LoadedProps<T> = {
  readonly query: UseQueryResult<T>
  /** Shown instead when there is nothing; see EmptyState. */
  readonly empty?: ReactNode
  readonly isEmpty?: (data: T) => boolean
  readonly children: (data: T) => ReactNode
}

/** What a query brings, or that it is under way, empty, or refused. Data that was had stays when a later try fails. */
export function Loaded<T>({ query, empty, isEmpty, children }: LoadedProps<T>) {
  const { data, error, isPending, refetch, dataUpdatedAt } = query
  if (isPending) return <Loading />
  const again = () => void refetch()
  if (data === undefined) return <Failure error={error} onRetry={again} />
  return (
    <>
      {error !== null && (
        <p className="panel-stale" role="status">
          This is of <RelativeTime at={dataUpdatedAt} isLocal />: {error.message}{' '}
          <Button kind="quiet" onClick={again}>
            Try again
          </Button>
        </p>
      )}
      {empty !== undefined && isEmpty?.(data) ? empty : children(data)}
    </>
  )
}

export function Loading() {
  return (
    <div className="panel-loading" role="status">
      <span className="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  )
}

/** What went wrong, in the server's words, and what to do. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const problem = error instanceof ServerRefused ? error.problem : undefined
  const { message, remedy } = error as { message?: string; remedy?: string }
  return (
    <div className="panel-failure" role="alert">
      <p>
        <strong>{problem?.title ?? 'This could not be shown'}</strong>
      </p>
      <p>
        <CodeInText text={problem?.detail ?? message ?? String(error)} />
      </p>
      {remedy !== undefined && (
        <p className="muted">
          What to do: <CodeInText text={remedy} />
        </p>
      )}
      {problem?.status === 403 && <AnotherRole />}
      {problem !== undefined && (
        <p className="muted">
          Request <code>{problem.request_id}</code>, code <code>{problem.code}</code>
        </p>
      )}
      {onRetry && (
        <Button icon={RotateCw} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** What somebody can do who may not see something. */
function AnotherRole() {
  // Only what is known: this may be shown to somebody who is not signed in.
  const me = useQueryClient().getQueryData(queryOf(routes.session.me).queryKey)
  return (
    <p className="muted">
      {me !== undefined && `You are signed in as ${personOf(me.name)} (${me.role ?? 'limited'}). `}
      An administrator can make a link that signs you in with another role.
    </p>
  )
}

class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined as unknown }
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override render() {
    if (this.state.error === undefined) return this.props.children
    return <Failure error={this.state.error} onRetry={() => this.setState({ error: undefined })} />
  }
}
