import { useState } from 'react'
import { type Json, readJson, writeJson } from '../json.ts'
import { CopyButton } from './copy-button.tsx'
import './json-view.css'

const OPEN_DEPTH = 2

/** JSON as it was sent, to be folded. Give `textOf(answer)` or a part of `readJson(textOf(answer))`: numbers stay as they are. */
export function JsonView({ json, label }: { readonly json: Json | string; readonly label: string }) {
  const tree = typeof json === 'string' ? readJson(json) : json
  return (
    <div className="json">
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark of the page as well */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className="json-tree" tabIndex={0} role="group" aria-label={label}>
        <Value json={tree} depth={0} />
      </div>
      <CopyButton text={writeJson(tree)} label={`Copy ${label}`} />
    </div>
  )
}

function Value({ json, depth }: { readonly json: Json; readonly depth: number }) {
  if (json.is === 'string') return <span className="json-string">{JSON.stringify(json.value)}</span>
  if (json.is === 'literal') return <span className="json-literal">{json.text}</span>
  const entries = json.is === 'object' ? json.members : json.items.map((item, i) => [String(i), item] as const)
  const brackets = json.is === 'object' ? '{}' : '[]'
  if (entries.length === 0) return <span>{brackets}</span>
  return <Branch entries={entries} brackets={brackets} depth={depth} />
}

type BranchProps = {
  readonly entries: readonly (readonly [string, Json])[]
  readonly brackets: string
  readonly depth: number
}

function Branch({ entries, brackets, depth }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  return (
    <span>
      <button type="button" className="json-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {brackets[0]}
        {!isOpen && ` ${entries.length} … ${brackets[1]}`}
      </button>
      {isOpen && (
        <>
          <ul>
            {entries.map(([key, value]) => (
              <li key={key}>
                <span className={brackets === '{}' ? 'json-key' : 'json-index'}>{key}</span>:{' '}
                <Value json={value} depth={depth + 1} />
              </li>
            ))}
          </ul>
          {brackets[1]}
        </>
      )}
    </span>
  )
}
