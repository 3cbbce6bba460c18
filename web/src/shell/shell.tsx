import { Outlet, useRouterState } from '@tanstack/react-router'
import { CircleHelp, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { startLive, useLiveState } from '../live.ts'
import { IconButton } from '../parts/button.tsx'
import { Toasts } from '../parts/toast.tsx'
import { useZone } from '../zone.ts'
import { Announcer } from './announcer.tsx'
import { Banners } from './banners.tsx'
import { LiveBadge } from './live-badge.tsx'
import { Navigation } from './navigation.tsx'
import { AccountMenu, ThemeMenu, ZoneMenu } from './preferences.tsx'
import { RequireSession } from './require-session.tsx'
import { useRecent, useShellKeys } from './shell-keys.ts'
import './shell.css'

const loadPalette = async () => ({ default: (await import('./palette.tsx')).Palette })
const Palette = lazy(loadPalette)
const KeysHelp = lazy(async () => ({ default: (await import('./keys-help.tsx')).KeysHelp }))

const SOON_MS = 1_500

/** Everything around a screen. */
export function Shell() {
  return (
    <RequireSession>
      <Frame />
    </RequireSession>
  )
}

function Frame() {
  const [shown, setShown] = useState<'palette' | 'help'>()
  const close = () => setShown(undefined)
  const main = useFocusOnChange()
  const isOffline = useLiveState().is === 'offline'
  const zone = useZone()
  useEffect(startLive, [])
  useEffect(() => {
    // Whoever opens it types at once: it is there before.
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), SOON_MS)
    return () => clearTimeout(timer)
  }, [])
  useShellKeys({ openPalette: () => setShown('palette'), openHelp: () => setShown('help') })
  useRecent()
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header className="bar">
        <PaletteButton onOpen={() => setShown('palette')} />
        <div className="bar-end">
          <LiveBadge />
          <span className="bar-wide">
            <IconButton icon={CircleHelp} label="Keys" onClick={() => setShown('help')} />
            <ZoneMenu />
          </span>
          <ThemeMenu />
          <AccountMenu />
        </div>
      </header>
      <Navigation />
      <main id="main" ref={main} tabIndex={-1} className="main" data-stale={isOffline || undefined}>
        <Banners />
        {/* With another zone every time is written anew. */}
        <Outlet key={zone} />
      </main>
      <Toasts />
      <Announcer />
      <Suspense>
        {shown === 'palette' && <Palette onClose={close} />}
        {shown === 'help' && <KeysHelp onClose={close} />}
      </Suspense>
    </div>
  )
}

/** Whoever does not see the page is brought to the new one's beginning; at the first they are already there. */
function useFocusOnChange() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const first = useRef(path)
  // With the page and not a moment later: somebody may have gone on to a field of it by then.
  useLayoutEffect(() => {
    if (first.current === path) return
    first.current = ''
    main.current?.focus()
  }, [path])
  return main
}

function PaletteButton({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <button type="button" className="palette-button" onClick={onOpen}>
      <Search aria-hidden size={15} />
      <span className="palette-words">Search or go to …</span>
      <kbd>Ctrl K</kbd>
    </button>
  )
}
