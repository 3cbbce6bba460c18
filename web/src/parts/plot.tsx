import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { useTheme } from '../theme.ts'
import { useZone, zoneNames } from '../zone.ts'
import 'uplot/dist/uPlot.min.css'
import './plot.css'

export type PlotSeries = {
  /** For the legend, which the screen writes itself. */
  readonly label: string
  /** A token: `--state-failed`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly isBar?: boolean
  readonly isDashed?: boolean
}

type PlotProps = {
  /** What the picture shows, in a sentence, for those who do not see it. */
  readonly label: string
  /** Milliseconds, rising. */
  readonly times: readonly number[]
  /** Drawn in this order: bars that stand before others come later. */
  readonly series: readonly PlotSeries[]
  readonly format: (value: number) => string
  readonly onPick?: ((index: number) => void) | undefined
}

const HEIGHT = 180

/** A picture of values over time. Beside it belongs a table with the same values. Load this with `import()`. */
export function Plot({ label, times, series, format, onPick }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const latest = useRef({ format, onPick })
  useEffect(() => {
    latest.current = { format, onPick }
  })
  const theme = useTheme()
  const zone = zoneNames[useZone()]
  const look = JSON.stringify(series.map((one) => ({ ...one, values: undefined })))
  const data = [times.map((ms) => ms / 1000), ...series.map(({ values }) => values)] as uPlot.AlignedData
  const first = useRef(data)
  useEffect(() => {
    first.current = data
    plot.current?.setData(data)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another theme the same colours have other values
  useEffect(() => {
    const place = frame.current
    if (place === null) return
    const drawn = draw(place, { look: JSON.parse(look), zone, data: first.current, latest })
    plot.current = drawn
    const watcher = new ResizeObserver(() => drawn.setSize({ width: place.clientWidth, height: HEIGHT }))
    watcher.observe(place)
    return () => {
      watcher.disconnect()
      plot.current = undefined
      drawn.destroy()
    }
  }, [look, zone, theme])
  return <div ref={frame} className="plot" role="img" aria-label={label} data-pick={onPick && ''} />
}

type Drawn = {
  readonly look: readonly Omit<PlotSeries, 'values'>[]
  readonly zone: string
  readonly data: uPlot.AlignedData
  readonly latest: { readonly current: Pick<PlotProps, 'format' | 'onPick'> }
}

function draw(place: HTMLElement, { look, zone, data, latest }: Drawn): uPlot {
  const styles = getComputedStyle(place)
  const token = (name: string) => styles.getPropertyValue(name).trim()
  const axis = {
    stroke: token('--ink-3'),
    grid: { stroke: token('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${token('--font')}`,
  }
  const clock = new Intl.DateTimeFormat(undefined, {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const day = new Intl.DateTimeFormat(undefined, { timeZone: zone, month: 'short', day: 'numeric' })
  const times: uPlot.Axis.DynamicValues = (_plot, ticks) => {
    const isDays = (ticks[1] ?? 0) - (ticks[0] ?? 0) >= 86_400
    return ticks.map((seconds) => (isDays ? day : clock).format(seconds * 1000))
  }
  const bars = uPlot.paths.bars?.({ size: [0.8, 40], align: 0 })
  const drawn = new uPlot(
    {
      width: place.clientWidth || 300,
      height: HEIGHT,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
      axes: [
        { ...axis, values: times, size: 30 },
        { ...axis, size: 58, values: (_, ticks) => ticks.map((tick) => latest.current.format(tick)) },
      ],
      series: [
        {},
        ...look.map(({ label, colour, isBar, isDashed }) => ({
          label,
          stroke: token(colour),
          width: isBar ? 0 : 1.5,
          points: { show: !isBar, size: 4 },
          ...(isBar && bars ? { fill: token(colour), paths: bars } : {}),
          ...(isDashed ? { dash: [4, 4] } : {}),
        })),
      ],
    },
    data,
    place,
  )
  drawn.over.addEventListener('click', () => {
    const { idx } = drawn.cursor
    if (idx !== null && idx !== undefined) latest.current.onPick?.(idx)
  })
  return drawn
}
