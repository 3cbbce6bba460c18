import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { routes, ServerRefused, useCall } from '../api.ts'
import { rememberAsked } from '../asked-page.ts'
import { Loading } from '../parts/panel.tsx'
import { Unreachable } from './unreachable.tsx'

/** Shows the dashboard to those who are signed in, and sends the others to sign in. */
export function RequireSession({ children }: { readonly children: ReactNode }) {
  const me = useCall(routes.session.me)
  const navigate = useNavigate()
  const asked = useRouterState({ select: ({ location }) => location.href })
  const isUnknown = me.error instanceof ServerRefused && me.error.status === 401
  // Whoever comes back here may have signed in elsewhere meanwhile: the answer under way says.
  const isStranger = isUnknown && !me.isFetching
  useEffect(() => {
    if (!isStranger) return
    rememberAsked(asked)
    void navigate({ to: '/sign-in', replace: true })
  }, [isStranger, asked, navigate])
  if (me.data !== undefined && !isUnknown) return children
  if (me.isPending || isUnknown) return <Loading />
  return <Unreachable error={me.error} onRetry={() => void me.refetch()} />
}
