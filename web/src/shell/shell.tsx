import { Outlet, useRouterState } from '@tanstack/react-router'
import { Contrast, Moon, Sun, SunMoon, UserRound } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { call, routes, useCall } from '../api.ts'
import { basePath } from '../base-path.ts'
import { startKeys } from '../keys.ts'
import { startLive } from '../live.ts'
import { Menu } from '../parts/menu.tsx'
import { Toasts, tell } from '../parts/toast.tsx'
import { chooseTheme, type Theme, themes, useTheme } from '../theme.ts'
import { LiveBadge } from './live-badge.tsx'
import { Navigation } from './navigation.tsx'
import { PaletteButton } from './palette-button.tsx'
import { RequireSession } from './require-session.tsx'
import './shell.css'

/** Everything around a screen. */
export function Shell() {
  return (
    <RequireSession>
      <Frame />
    </RequireSession>
  )
}

function Frame() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const first = useRef(path)
  useEffect(startLive, [])
  useEffect(startKeys, [])
  // Whoever does not see the page is brought to the new one's beginning; at the first they are already there.
  useEffect(() => {
    if (first.current === path) return
    first.current = ''
    main.current?.focus()
  }, [path])
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header className="bar">
        <PaletteButton />
        <div className="bar-end">
          <LiveBadge />
          <ThemeMenu />
          <AccountMenu />
        </div>
      </header>
      <Navigation />
      <main id="main" ref={main} tabIndex={-1} className="main">
        <Outlet />
      </main>
      <Toasts />
    </div>
  )
}

const themeWords: Readonly<Record<Theme, string>> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  contrast: 'High contrast',
}
const themeIcons = { system: SunMoon, light: Sun, dark: Moon, contrast: Contrast } as const

function ThemeMenu() {
  const theme = useTheme()
  return (
    <Menu
      label={`Theme: ${themeWords[theme]}`}
      icon={themeIcons[theme]}
      actions={themes.map((one) => ({
        id: one,
        label: themeWords[one],
        isChosen: one === theme,
        onAction: () => chooseTheme(one),
      }))}
    />
  )
}

function AccountMenu() {
  const { data: me } = useCall(routes.session.me)
  const signOut = async (everywhere: boolean) => {
    try {
      await call(routes.session.signOut, { body: { everywhere } })
      location.assign(`${basePath}/sign-in`)
    } catch (error) {
      tell(`You are still signed in: ${(error as Error).message}`, { isError: true })
    }
  }
  return (
    <Menu
      label={`Account: ${me?.name ?? 'unknown'}, ${me?.role ?? 'limited'}`}
      icon={UserRound}
      actions={[
        { id: 'here', label: `Sign out ${me?.name ?? ''}`, onAction: () => void signOut(false) },
        { id: 'everywhere', label: 'Sign out everywhere', onAction: () => void signOut(true) },
      ]}
    />
  )
}
