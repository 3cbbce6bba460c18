import { Outlet, useRouterState } from '@tanstack/react-router'
import { useRef } from 'react'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { useTabInSight } from '../parts/tab-in-sight.ts'
import '../parts/tabs.css'

const parts = [
  { to: '/settings/appearance', label: 'Appearance' },
  { to: '/settings/tokens', label: 'Tokens' },
  { to: '/settings/webhooks', label: 'Webhooks' },
  { to: '/settings/secrets', label: 'Secrets' },
  { to: '/settings/hooks', label: 'Hooks' },
  { to: '/settings/about', label: 'About' },
] as const

/** What an administrator arranges, and what each person may choose. */
export function Settings() {
  const tabs = useRef<HTMLElement>(null)
  useTabInSight(tabs, useRouterState({ select: ({ location }) => location.pathname }))
  return (
    <Page title="Settings">
      <nav ref={tabs} className="tab-list" aria-label="Settings">
        {parts.map(({ to, label }) => (
          <Link key={to} to={to} className="tab" activeProps={{ 'aria-current': 'page' }}>
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </Page>
  )
}
