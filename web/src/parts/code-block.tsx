import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import './code-block.css'

/** Text in fixed width that can be copied: a command, a file, an error. */
export function CodeBlock({ text, label, children }: { text: string; label: string; children?: ReactNode }) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{children ?? text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
  )
}
