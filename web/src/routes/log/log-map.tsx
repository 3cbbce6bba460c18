import type { MouseEvent } from 'react'
import type { Match } from '../../log/find-matches.ts'
import type { LinePages } from '../../log/line-pages.ts'

const HEIGHT = 1000

type LogMapProps = {
  readonly pages: LinePages
  readonly matches: readonly Match[]
  readonly onGo: (line: number) => void
}

/** Where in the whole log the matches lie, and the first error. For the eye and the mouse; the keys have n and p. */
export function LogMap({ pages, matches, onGo }: LogMapProps) {
  const { total_lines: total, first_error_line: error } = pages.facts ?? { total_lines: 0, first_error_line: null }
  if (total === 0 || (matches.length === 0 && error === null)) return null
  const place = (line: number) => Math.round((line / total) * HEIGHT)
  // One path, however many: matches that fall together are drawn once.
  const ticks = [...new Set(matches.map(({ number }) => place(number)))].map((y) => `M0 ${y}h8`).join('')
  const go = (event: MouseEvent<HTMLDivElement>) => {
    const { top, height } = event.currentTarget.getBoundingClientRect()
    const line = Math.round(((event.clientY - top) / height) * total)
    const near = matches.reduce<number | undefined>(
      (best, { number }) => (best === undefined || Math.abs(number - line) < Math.abs(best - line) ? number : best),
      undefined,
    )
    onGo(near !== undefined && Math.abs(near - line) < total / 50 ? near : Math.max(1, line))
  }
  return (
    <div className="log-map" aria-hidden="true" onClick={go}>
      <svg viewBox={`0 0 8 ${HEIGHT}`} preserveAspectRatio="none" width="10" height="100%" focusable="false">
        <title>Matches</title>
        {error !== null && (
          <path d={`M0 ${place(error)}h8`} className="log-map-error" vectorEffect="non-scaling-stroke" />
        )}
        <path d={ticks} className="log-map-match" vectorEffect="non-scaling-stroke" />
      </svg>
    </div>
  )
}
