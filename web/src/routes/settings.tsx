import { Outlet } from '@tanstack/react-router'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
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
  return (
    <Page title="Settings">
      <nav className="tab-list" aria-label="Settings">
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
