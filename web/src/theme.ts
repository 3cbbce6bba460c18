import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark', 'contrast'] as const
export type Theme = (typeof themes)[number]

const KEY = 'millrace-theme'
const watchers = new Set<() => void>()
const dark = matchMedia('(prefers-color-scheme: dark)')
const contrast = matchMedia('(prefers-contrast: more)')
let chosen: Theme = readTheme()

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return themes.find((theme) => theme === kept) ?? 'system'
  } catch {
    return 'system' // storage is forbidden here: the choice lasts as long as the page
  }
}

function apply(): void {
  const bySystem = contrast.matches ? 'contrast' : dark.matches ? 'dark' : 'light'
  document.documentElement.dataset['theme'] = chosen === 'system' ? bySystem : chosen
  for (const watch of watchers) watch()
}

/** Shows the theme that was chosen, and follows the system's where it was not. */
export function startTheme(): void {
  dark.addEventListener('change', apply)
  contrast.addEventListener('change', apply)
  apply()
}

export function chooseTheme(theme: Theme): void {
  chosen = theme
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // As above: it lasts as long as the page.
  }
  apply()
}

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => chosen,
  )
