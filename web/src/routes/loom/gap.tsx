// A stretch of revisions that is not planned: which, since when, why, and what helps.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call, routes, useRefusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { tell } from '../../parts/toast.tsx'
import type { Archive } from './archive-note.tsx'
import type { Gap } from './cloth.ts'

type GapProps = { readonly archive: Archive; readonly gap: Gap; readonly first: number; readonly onChanged: () => void }

export const rangeOf = ({ first, last }: { readonly first: number; readonly last: number }): string =>
  first === last ? `r${first}` : `r${first}–r${last}`

/** `first` is the first revision that is not planned: the one that all others wait for. */
export function GapContent({ archive, gap, first, onChanged }: GapProps) {
  const [isAsked, setAsked] = useState(false)
  const announceRefusal = useRefusal(routes.archives.announce)
  const isMissing = gap.reason === 'not_announced'
  const announce = async () => {
    for (let rev = gap.first; rev <= gap.last; rev += 1)
      await call(routes.archives.announce, { params: { name: archive.name, rev } })
    tell(`Announced ${rangeOf(gap)} of ${archive.name}`)
    onChanged()
  }
  // One by one by hand is for a few; more than that is another fault.
  const isFew = gap.last - gap.first < 20
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of a grid that is no table
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons can be focused
    <div role="gridcell" className="loom-gap-content">
      <span className="loom-gap-range">{rangeOf(gap)}</span>
      <span className="loom-gap-text">
        {isMissing ? (
          <>not announced, awaited {gap.since !== null && <RelativeTime at={gap.since} />}: is a hook missing?</>
        ) : gap.first === first ? (
          archive.state === 'active' ? (
            'not planned yet'
          ) : (
            `not planned: the archive is ${archive.state}`
          )
        ) : (
          `announced, waits for r${first}`
        )}
      </span>
      <span className="loom-gap-actions">
        {isMissing && isFew && (
          <Button refusal={announceRefusal} onClick={() => setAsked(true)}>
            Announce
          </Button>
        )}
        {(isMissing || gap.first === first) && <CatchUp archive={archive} onDone={onChanged} />}
      </span>
      <Confirm
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={`Announce ${rangeOf(gap)}?`}
        objects={[`${archive.name} ${rangeOf(gap)}`]}
        action={`Announce ${rangeOf(gap)}`}
        onConfirm={announce}
      >
        <p>
          {archive.source.type === 'push'
            ? 'Nobody has said what is in it, so it is planned without tasks, and those after it go on. What is announced later is refused.'
            : 'The repository is read, and what it holds is planned.'}
        </p>
      </Confirm>
    </div>
  )
}

/** Looks at the repository now. */
export function CatchUp({ archive, onDone }: { readonly archive: Archive; readonly onDone: () => void }) {
  const [isBusy, setBusy] = useState(false)
  const queries = useQueryClient()
  const refusal = useRefusal(routes.archives.catchUp)
  const look = async () => {
    setBusy(true)
    try {
      const found = await call(routes.archives.catchUp, { params: { name: archive.name }, body: {} })
      queries.setQueryData([routes.archives.get.name, { params: { name: archive.name } }], found)
      tell(`${archive.name} is planned up to r${found.planned.number}`)
      onDone()
    } catch (error) {
      tell((error as Error).message, { isError: true })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button refusal={refusal} isBusy={isBusy} onClick={() => void look()}>
      Catch up
    </Button>
  )
}
