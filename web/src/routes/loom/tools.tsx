import { useState } from 'react'
import { routes, useRefusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import type { LoomSearch } from './address.ts'
import { type Archive, HoldButton } from './archive-note.tsx'
import { type Reached, tellFrontier } from './frontier.ts'
import { CatchUp } from './gap.tsx'
import { RunDialog } from './run-dialog.tsx'
import type { LoomSource } from './source.ts'

type ToolsProps = {
  readonly archive: Archive
  readonly source: LoomSource
  readonly reached: readonly Reached[]
  readonly search: LoomSearch
  readonly onSearch: (search: LoomSearch) => void
}

/** Above the picture: how far everything has got, which columns are shown, and what is done with the whole archive. */
export function Tools({ archive, source, reached, search, onSearch }: ToolsProps) {
  const [isRunning, setRunning] = useState(false)
  const refusal = useRefusal(routes.runs.create)
  return (
    <div className="loom-tools">
      <p className="loom-frontier" role="status">
        <span>
          Frontier: <strong className="name">{tellFrontier(source.cloth, reached)}</strong>
        </span>
      </p>
      <input
        className="input loom-filter"
        type="search"
        placeholder="Filter tasks"
        aria-label="Filter tasks"
        value={search.columns ?? ''}
        onChange={(event) => {
          const { columns: _, ...rest } = search
          onSearch(event.target.value === '' ? rest : { ...rest, columns: event.target.value })
        }}
      />
      <Button kind="primary" refusal={refusal} onClick={() => setRunning(true)}>
        Run workflow
      </Button>
      <CatchUp archive={archive} onDone={() => source.sync()} />
      {archive.state !== 'held' && <HoldButton archive={archive} />}
      {isRunning && <RunDialog name={archive.name} onClose={() => setRunning(false)} />}
    </div>
  )
}
