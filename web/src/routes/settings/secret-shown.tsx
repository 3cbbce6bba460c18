import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code-block.tsx'
import '../settings.css'

type SecretShownProps = {
  /** What it is: `The secret of ci`. */
  readonly title: string
  readonly text: string
  readonly children?: ReactNode
  readonly onDone: () => void
}

/** Something that is shown once and never again. */
export function SecretShown({ title, text, children, onDone }: SecretShownProps) {
  return (
    <section className="settings-secret" aria-label={title}>
      <strong className="name">{title}</strong>
      <span className="settings-note">{children ?? 'Copy it now: it is not shown again.'}</span>
      <CodeBlock text={text} label={title} />
      <div className="row">
        <Button onClick={onDone}>I have it</Button>
      </div>
    </section>
  )
}
