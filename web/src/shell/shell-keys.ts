import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect } from 'react'
import { startKeys, useKeys } from '../keys.ts'
import { pauseLive, resumeLive, useLiveState } from '../live.ts'
import { rememberRecent } from '../recent.ts'
import { chooseTheme, themes } from '../theme.ts'
import { places } from './places.ts'
import { themeWords } from './preferences.tsx'

/** Goes to the field by which the screen is narrowed. */
function focusFilter(): void {
  const field = document.querySelector<HTMLInputElement>('main :is([data-filter], input[type="search"])')
  field?.focus()
  field?.select()
}

/** The keys that work everywhere, and the actions that the palette always has. */
export function useShellKeys({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }): void {
  const navigate = useNavigate()
  const { is } = useLiveState()
  useLayoutEffect(startKeys, [])
  useKeys(
    [
      { key: 'Mod+k', label: 'Search or go to', run: openPalette, isMove: true },
      { key: '?', label: 'Keys', run: openHelp },
      { key: '/', label: 'Filter', run: focusFilter, isMove: true },
      ...places.map(({ to, label, key }) => ({
        key: `g ${key}`,
        label: `Go to ${label}`,
        run: () => void navigate({ to }),
        isMove: true,
      })),
      is === 'paused'
        ? { label: 'Go on following the server', run: resumeLive }
        : { label: 'Pause what is shown', run: pauseLive },
      ...themes.map((theme) => ({ label: `Theme: ${themeWords[theme]}`, run: () => chooseTheme(theme) })),
    ],
    'Everywhere',
  )
}

/** Remembers the places that somebody leaves, by the titles they had. */
export function useRecent(): void {
  const href = useRouterState({ select: ({ location }) => location.href })
  useEffect(
    () => () => {
      const title = document.title.replace(/ · Millrace$/, '')
      if (title !== '') rememberRecent({ href, title })
    },
    [href],
  )
}
