import { formatDuration } from '../format.ts'
import { type LiveState, pauseLive, resumeLive, useLiveState } from '../live.ts'
import { Lasting } from '../parts/time.tsx'

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
      <span>
        <Words state={state} />
      </span>
    </button>
  )
}

function Words({ state }: { readonly state: LiveState }) {
  if (state.is === 'live')
    return (
      <>
        live{state.lagMs > 0 && <span className="live-detail">, {formatDuration(state.lagMs)}</span>}
        {state.lagMs > 0 && <span className="visually-hidden"> from event to screen</span>}
      </>
    )
  if (state.is === 'polling')
    return (
      <>
        live<span className="live-detail">, every 5 s</span>
      </>
    )
  if (state.is === 'catching up') return <>catching up</>
  const word = state.is === 'paused' ? 'paused' : 'offline'
  return (
    <>
      {word}
      <span className="live-detail">
        {' '}
        <Lasting since={state.since} />
      </span>
    </>
  )
}
