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
  Settings,
} from 'lucide-react'

/**
 * The screens of the navigation, in its order; a narrow screen has the first four at hand and the rest behind a button.
 * `key` follows `g`.
 */
export const places = [
  { to: '/', label: 'Overview', icon: LayoutDashboard, key: 'o' },
  { to: '/archives', label: 'Archives', icon: LibraryBig, key: 'a' },
  { to: '/tasks', label: 'Tasks', icon: ListChecks, key: 't' },
  { to: '/nodes', label: 'Trees', icon: ListTree, key: 'n' },
  { to: '/timeline', label: 'Timeline', icon: GanttChart, key: 'l' },
  { to: '/workers', label: 'Workers', icon: Cpu, key: 'w' },
  { to: '/schedules', label: 'Schedules', icon: CalendarClock, key: 's' },
  { to: '/events', label: 'Events', icon: Activity, key: 'e' },
  { to: '/settings', label: 'Settings', icon: Settings, key: ',' },
] as const satisfies readonly { to: string; label: string; icon: LucideIcon; key: string }[]
