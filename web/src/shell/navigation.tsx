import {
  Activity,
  CalendarClock,
  Cpu,
  GanttChart,
  LayoutDashboard,
  LibraryBig,
  ListChecks,
  ListTree,
  type LucideIcon,
  Menu as MenuIcon,
  Settings,
} from 'lucide-react'
import { useState } from 'react'
import { Link } from '../parts/link.tsx'
import { Logo } from './logo.tsx'

/** The screens of the navigation, in its order; a narrow screen has the first four at hand and the rest behind a button. */
const places = [
  { to: '/', label: 'Overview', icon: LayoutDashboard },
  { to: '/archives', label: 'Archives', icon: LibraryBig },
  { to: '/tasks', label: 'Tasks', icon: ListChecks },
  { to: '/nodes', label: 'Trees', icon: ListTree },
  { to: '/timeline', label: 'Timeline', icon: GanttChart },
  { to: '/workers', label: 'Workers', icon: Cpu },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock },
  { to: '/events', label: 'Events', icon: Activity },
  { to: '/settings', label: 'Settings', icon: Settings },
] as const satisfies readonly { to: string; label: string; icon: LucideIcon }[]

export function Navigation() {
  const [isOpen, setOpen] = useState(false)
  return (
    <nav className="nav" aria-label="Main" data-open={isOpen || undefined}>
      <Link to="/" className="nav-brand" onClick={() => setOpen(false)}>
        <Logo />
        <span>Millrace</span>
      </Link>
      {places.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          className="nav-link"
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          onClick={() => setOpen(false)}
        >
          <Icon aria-hidden size={17} />
          <span>{label}</span>
        </Link>
      ))}
      <button type="button" className="nav-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <MenuIcon aria-hidden size={17} />
        <span>{isOpen ? 'Less' : 'More'}</span>
      </button>
    </nav>
  )
}
