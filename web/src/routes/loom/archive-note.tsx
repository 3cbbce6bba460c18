// What keeps an archive from going on, and how to help it.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type BodyAnswered, call, routes, useRefusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Lasting } from '../../parts/time.tsx'
import { tell } from '../../parts/toast.tsx'

export type Archive = BodyAnswered<typeof routes.archives.get>

export function ArchiveNote({ archive }: { readonly archive: Archive }) {
  const { state, problem } = archive
  if (state === 'active' && problem === null) return null
  return (
    <div className={state === 'broken' ? 'loom-note loom-note-broken' : 'loom-note'} role="status">
      <p>
        {state === 'held' && <strong>Held. </strong>}
        {state === 'broken' && <strong>Broken. </strong>}
        {state === 'held' && 'New revisions are announced and wait; tasks that were planned go on. '}
        {problem !== null && (
          <>
            {problem.message}{' '}
            <span className="muted">
              (<Lasting since={problem.since} />)
            </span>{' '}
            {problem.remedy !== null && <span className="muted">What to do: {problem.remedy}</span>}
          </>
        )}
      </p>
      {state === 'held' && <HoldButton archive={archive} />}
      {state === 'broken' && <AcceptButton archive={archive} />}
    </div>
  )
}

/** Keeps what the server answered of an archive. */
export function useKeepArchive(): (archive: Archive) => void {
  const queries = useQueryClient()
  return (archive) => queries.setQueryData([routes.archives.get.name, { params: { name: archive.name } }], archive)
}

export function HoldButton({ archive }: { readonly archive: Archive }) {
  const isHeld = archive.state === 'held'
  const keep = useKeepArchive()
  const route = isHeld ? routes.archives.release : routes.archives.hold
  const refusal = useRefusal(route)
  const isBroken = archive.state === 'broken' ? 'It is broken: see what is said of it.' : undefined
  const act = async () => {
    try {
      keep(await call(route, { params: { name: archive.name } }))
      tell(isHeld ? `${archive.name} goes on` : `${archive.name} is held: its revisions wait`)
    } catch (error) {
      tell((error as Error).message, { isError: true })
    }
  }
  return (
    <Button refusal={refusal ?? isBroken} onClick={() => void act()}>
      {isHeld ? 'Release' : 'Hold'}
    </Button>
  )
}

function AcceptButton({ archive }: { readonly archive: Archive }) {
  const [isAsked, setAsked] = useState(false)
  const keep = useKeepArchive()
  const refusal = useRefusal(routes.archives.catchUp)
  return (
    <>
      <Button kind="danger" refusal={refusal} onClick={() => setAsked(true)}>
        Accept the new history
      </Button>
      <Confirm
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title="Accept the new history?"
        objects={[archive.name]}
        action="Accept the new history"
        onConfirm={async () => {
          keep(await call(routes.archives.catchUp, { params: { name: archive.name }, body: { accept: 'rewritten' } }))
        }}
      >
        <p>
          The commits after the last one that both histories share become its next revisions. What was planned stays.
        </p>
      </Confirm>
    </>
  )
}
