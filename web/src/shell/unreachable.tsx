import { Failure, Panel } from '../parts/panel.tsx'

/** Nothing can be shown: the server does not answer, or not as it should. */
export function Unreachable({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <main className="lone">
      <Panel title="The server does not answer">
        <Failure error={error} onRetry={onRetry} />
      </Panel>
    </main>
  )
}
