import { formatDuration } from '../format.ts'
import { type LiveState, pauseLive, resumeLive, useLiveState } from '../live.ts'
import { RelativeTime } from '../parts/time.tsx'

/** Whether what is shown is of this moment. Pressing it pauses, and goes on. */
export function LiveBadge() {
  const state = useLiveState()
  const isPaused = state.is === 'paused'
  return (
    <button
      type="button"
      className={`live live-${state.is.replace(' ', '-')}`}
      onClick={isPaused ? resumeLive : pauseLive}
      title={isPaused ? 'Go on following the server' : 'Pause: what is shown stays as it is'}
    >
      <span className="live-dot" aria-hidden="true" />
      <Words state={state} />
    </button>
  )
}

function Words({ state }: { readonly state: LiveState }) {
  if (state.is === 'live') return <>live{state.lagMs >= 1_000 && `, ${formatDuration(state.lagMs)} behind`}</>
  if (state.is === 'polling') return <>every 5 s</>
  if (state.is === 'catching up') return <>catching up</>
  if (state.is === 'paused') return <>paused</>
  return (
    <>
      offline since <RelativeTime at={state.since} />
    </>
  )
}
