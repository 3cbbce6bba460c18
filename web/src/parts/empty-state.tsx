import type { ReactNode } from 'react'
import { CodeBlock } from './code-block.tsx'
import './empty-state.css'

type EmptyStateProps = { readonly title: string; readonly children?: ReactNode; readonly command?: string }

/** What would be here, and the one command that puts it here. */
export function EmptyState({ title, children, command }: EmptyStateProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <p className="muted">{children}</p>}
      {command !== undefined && <CodeBlock text={command} label="command" />}
    </div>
  )
}
