import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { isScreenMissing } from '../lazy-screen.ts'
import { Page } from '../parts/page.tsx'
import { Failure, Panel } from '../parts/panel.tsx'

/** A screen that broke, or that could not be loaded. What is around it goes on. */
export function ScreenFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const again = () => {
    // What could not be loaded is asked for anew only by a new page.
    if (isScreenMissing(error)) location.reload()
    else {
      reset()
      void router.invalidate()
    }
  }
  return (
    <Page title="This screen could not be shown">
      <Panel>
        <Failure error={error} onRetry={again} />
      </Panel>
    </Page>
  )
}
