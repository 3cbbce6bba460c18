import { CaseSensitive, ChevronDown, ChevronUp, Regex, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { formatCount } from '../../format.ts'
import type { Found, Wanted } from '../../log/find-matches.ts'
import { IconButton } from '../../parts/button.tsx'

type LogSearchProps = {
  readonly wanted: Wanted
  readonly found: Found | undefined
  /** Which match is shown, from 0. */
  readonly at: number | undefined
  /** Rises when it is opened again. */
  readonly round: number
  readonly onWanted: (wanted: Wanted) => void
  readonly onStep: (by: 1 | -1) => void
  readonly onFocus: (hasFocus: boolean) => void
  readonly onClose: () => void
}

const TYPING_MS = 250

/** Searches the whole log on the server, while it is typed. */
export function LogSearch({ wanted, found, at, round, onWanted, onStep, onFocus, onClose }: LogSearchProps) {
  const [text, setText] = useState(wanted.q)
  const input = useRef<HTMLInputElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: opened again, it has the focus again
  useEffect(() => input.current?.select(), [round])
  const { q, isRegex, isCase } = wanted
  // What was asked for last: the address comes after it, and may come late.
  const asked = useRef(wanted)
  useEffect(() => {
    asked.current = { q, isRegex, isCase }
  }, [q, isRegex, isCase])
  const ask = (patch: Partial<Wanted>) => {
    asked.current = { ...asked.current, ...patch }
    onWanted(asked.current)
  }
  const latest = useRef(ask)
  useEffect(() => {
    latest.current = ask
  })
  useEffect(() => {
    if (text === asked.current.q) return
    const timer = setTimeout(() => latest.current({ q: text }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <search className="log-search">
      <input
        ref={input}
        className="input mono"
        aria-label="Search the whole log"
        placeholder={isRegex ? 'pattern (RE2)' : 'text'}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onFocus={() => onFocus(true)}
        onBlur={() => onFocus(false)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
          if (event.key === 'Enter' && text === q) onStep(event.shiftKey ? -1 : 1)
        }}
      />
      <Toggle
        icon={CaseSensitive}
        label="Capital and small letters differ"
        isOn={isCase}
        onToggle={(isOn) => ask({ isCase: isOn })}
      />
      <Toggle icon={Regex} label="A pattern of RE2" isOn={isRegex} onToggle={(isOn) => ask({ isRegex: isOn })} />
      <span className="log-search-count" role="status">
        <Count wanted={wanted} found={found} at={at} />
      </span>
      <IconButton icon={ChevronUp} label="Match before" onClick={() => onStep(-1)} />
      <IconButton icon={ChevronDown} label="Next match" onClick={() => onStep(1)} />
      <IconButton icon={X} label="Close the search" onClick={onClose} />
    </search>
  )
}

type ToggleProps = {
  readonly icon: typeof Regex
  readonly label: string
  readonly isOn: boolean
  readonly onToggle: (isOn: boolean) => void
}

function Toggle({ icon, label, isOn, onToggle }: ToggleProps) {
  return <IconButton icon={icon} label={label} aria-pressed={isOn} onClick={() => onToggle(!isOn)} />
}

function Count({ wanted, found, at }: Pick<LogSearchProps, 'wanted' | 'found' | 'at'>) {
  if (wanted.q === '' || found === undefined) return null
  if (found.error !== undefined) return <span className="log-search-error">{found.error.message}</span>
  const count = found.matches.length
  const more = found.isAll ? '' : found.isUnderWay ? ' …' : ' or more'
  if (count === 0) return <>{found.isUnderWay ? 'searching …' : 'in no line'}</>
  const lines = `${formatCount(count)}${more} ${count === 1 && found.isAll ? 'line' : 'lines'}`
  return <>{at === undefined ? lines : `${formatCount(at + 1)} of ${lines}`}</>
}
