import type { ReactNode } from 'react'
import './table.css'

export type Column<Row> = {
  readonly id: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'end'
  /** Left out on narrow screens: the row says enough without it. */
  readonly isMinor?: boolean
  /** Takes the width that is left. */
  readonly isWide?: boolean
}

type TableProps<Row> = {
  /** For those who do not see it: what the rows are. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly isSelected?: (row: Row) => boolean
}

const classOf = ({ align, isMinor, isWide }: Column<never>) =>
  [align && 'table-end', isMinor && 'table-minor', isWide && 'table-wide'].filter(Boolean).join(' ') || undefined

/** Rows of a list, dense. Long values wrap within their cell; the page itself never scrolls sideways. */
export function Table<Row>({ label, columns, rows, rowKey, isSelected }: TableProps<Row>) {
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-selected={isSelected?.(row) || undefined}>
              {columns.map((column) => (
                <td key={column.id} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
