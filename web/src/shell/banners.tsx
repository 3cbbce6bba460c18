import { useEffect, useRef } from 'react'
import { lookForUpdate, useIsUpdated } from '../build.ts'
import { type LiveState, retryLive, useLiveState } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { RelativeTime, useNow } from '../parts/time.tsx'

/** A server that is started anew is away for a moment; nobody needs to hear of that. */
const MOMENT_MS = 2_000

/** What holds for everything that is shown: the server is away, or has another dashboard by now. */
export function Banners() {
  const state = useLiveState()
  useLookForUpdates(state)
  return (
    <div className="banners" role="status">
      {state.is === 'offline' && <Offline since={state.since} />}
      <Update />
    </div>
  )
}

/** A server that went away and came back may be another one. */
function useLookForUpdates({ is }: LiveState): void {
  const wasLive = useRef(false)
  const isLive = is === 'live' || is === 'polling'
  useEffect(() => {
    if (!isLive) return
    if (wasLive.current) void lookForUpdate()
    wasLive.current = true
  }, [isLive])
}

function Offline({ since }: { readonly since: number }) {
  const now = useNow()
  if (now - since < MOMENT_MS) return null
  return (
    <p className="banner banner-offline">
      <span>
        The server does not answer. What is shown is as it was <RelativeTime at={since} />.
      </span>
      <Button onClick={retryLive}>Try now</Button>
    </p>
  )
}

function Update() {
  if (!useIsUpdated()) return null
  return (
    <p className="banner banner-update">
      <span>The server has another version of this dashboard.</span>
      <Button onClick={() => location.reload()}>Reload</Button>
    </p>
  )
}
