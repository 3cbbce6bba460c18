import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '../copy-text.ts'
import { IconButton } from './button.tsx'

/** Copies a text; says so, and says it when it could not. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>()
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'refused')
  return (
    <>
      <IconButton
        icon={outcome === 'copied' ? Check : Copy}
        label={label}
        onClick={() => void copy()}
        onBlur={() => setOutcome(undefined)}
      />
      <span className="visually-hidden" role="status">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'refused' && 'The browser does not let the text be copied: select it and copy it by hand'}
      </span>
    </>
  )
}
