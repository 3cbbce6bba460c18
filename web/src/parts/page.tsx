import { type ReactNode, useEffect } from 'react'
import './page.css'

type PageProps = {
  /** Also the title of the window. */
  readonly title: string
  /** Shown as the heading instead of the title, where it is more than text. */
  readonly heading?: ReactNode
  /** Links to what the page belongs to, the outermost first. */
  readonly crumbs?: ReactNode
  readonly summary?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A screen: where it belongs, what it is, what can be done, and its parts. */
export function Page({ title, heading, crumbs, summary, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`
  }, [title])
  return (
    <div className="page">
      <header className="page-head">
        {crumbs !== undefined && (
          <nav aria-label="Breadcrumbs" className="crumbs">
            {crumbs}
          </nav>
        )}
        <div className="page-title">
          <h1 className="name">{heading ?? title}</h1>
          {actions !== undefined && <div className="row">{actions}</div>}
        </div>
        {summary !== undefined && <div className="page-summary">{summary}</div>}
      </header>
      {children}
    </div>
  )
}
