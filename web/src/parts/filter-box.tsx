import { Search, X } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { type Completion, complete, type Qualifier, readFilter, writeFilter } from '../filter.ts'
import { useKeys } from '../keys.ts'
import './filter-box.css'

type FilterBoxProps = {
  /** The filter as it is in the address. */
  readonly filter: string
  readonly onFilter: (filter: string) => void
  readonly qualifiers: readonly Qualifier[]
  /** What is filtered, for those who do not see it: `Filter tasks`. */
  readonly label: string
  readonly placeholder?: string
}

/**
 * A filter of words and qualifiers: each part a chip that can be taken out, and a field that completes. `/` goes to the
 * field, Enter adds what is typed, Backspace in the empty field takes the last chip back to be changed.
 */
export function FilterBox({ filter, onFilter, qualifiers, label, placeholder }: FilterBoxProps) {
  const [draft, setDraft] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  useKeys([{ key: '/', label, run: () => input.current?.focus(), isMove: true }], 'Filter')
  const terms = readFilter(filter)
  const word = /\S*"[^"]*$|\S*$/.exec(draft)?.[0] ?? ''
  const offered = isOpen ? complete(word, qualifiers) : []
  const apply = (text: string) => {
    setDraft('')
    setAt(-1)
    onFilter(text)
  }
  const add = (text: string) => apply(writeFilter([...terms, ...readFilter(text)]))
  const choose = ({ text, isWhole }: Completion) => {
    const next = draft.slice(0, draft.length - word.length) + text
    if (isWhole) add(next)
    else setDraft(next)
    setAt(-1)
    input.current?.focus()
  }
  const enter = () => {
    const chosen = offered[at]
    if (chosen !== undefined) choose(chosen)
    else if (draft.trim() !== '') add(draft)
    setOpen(false)
  }
  const takeBack = () => {
    if (draft !== '' || terms.length === 0) return
    setDraft(`${terms.at(-1)?.text ?? ''} `)
    onFilter(writeFilter(terms.slice(0, -1)))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (event.nativeEvent.isComposing) return
    const isChoosing = key === 'Tab' && offered[at] !== undefined
    if (isChoosing || key === 'ArrowDown' || key === 'ArrowUp' || key === 'Enter') event.preventDefault()
    if (key === 'ArrowDown') setAt(Math.min(offered.length - 1, at + 1))
    else if (key === 'ArrowUp') setAt(Math.max(-1, at - 1))
    else if (key === 'Enter' || isChoosing) enter()
    else if (key === 'Backspace') takeBack()
    else if (key === 'Escape' && offered.length > 0) setOpen(false)
    else if (key === 'Escape') input.current?.blur()
  }
  return (
    <search className="filter">
      <div className="filter-field">
        <Search aria-hidden size={15} className="filter-icon" />
        {terms.map((term, i) => (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: the same term may stand there twice
            key={`${i} ${term.text}`}
            type="button"
            className="filter-chip name"
            aria-label={`Take out ${term.text}`}
            title="Take out"
            onClick={() => apply(writeFilter(terms.filter((_, j) => j !== i)))}
          >
            {term.qualifier !== undefined && <span className="filter-name">{term.qualifier}:</span>}
            {term.value === '' ? term.text : term.value}
            <X aria-hidden size={12} />
          </button>
        ))}
        <input
          ref={input}
          className="filter-input"
          data-filter
          role="combobox"
          aria-label={label}
          aria-expanded={offered.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={offered[at] === undefined ? undefined : `${list}-${at}`}
          placeholder={terms.length === 0 ? placeholder : undefined}
          autoComplete="off"
          spellCheck={false}
          value={draft}
          onChange={(event) => {
            setDraft(event.target.value)
            setOpen(true)
            setAt(-1)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={list} className="filter-list" role="listbox" aria-label="Completions" hidden={offered.length === 0}>
        {offered.map((one, i) => (
          <div
            key={one.text}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === at}
            tabIndex={-1}
            className="filter-option"
            onPointerDown={(event) => {
              event.preventDefault()
              choose(one)
            }}
          >
            <span className="mono name">{one.text}</span> <span className="muted">{one.hint}</span>
          </div>
        ))}
      </div>
    </search>
  )
}
