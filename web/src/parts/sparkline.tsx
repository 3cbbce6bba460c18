type SparklineProps = { readonly values: readonly number[]; readonly label: string }

const WIDTH = 96
const HEIGHT = 22

/** A small curve of values, the newest on the right. `label` says in words what it shows. */
export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(1e-9, ...values)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
  )
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <polyline points={points.join(' ')} fill="none" stroke="var(--accent)" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}
