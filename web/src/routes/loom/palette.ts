// The colours of the canvas: the tokens of the style sheet, read again when the theme changes. Where the system forces its
// own colours a canvas is left alone by it, so the system's names are used there.
import { type CellState, cellStates } from './cloth.ts'

export type Palette = {
  readonly surface: string
  readonly sunken: string
  readonly line: string
  readonly strong: string
  readonly ink: string
  readonly faint: string
  readonly accent: string
  readonly soft: string
  readonly focus: string
  readonly warn: string
  readonly states: readonly string[]
}

const forced = matchMedia('(forced-colors: active)')

const system: Palette = {
  surface: 'Canvas',
  sunken: 'Canvas',
  line: 'GrayText',
  strong: 'CanvasText',
  ink: 'CanvasText',
  faint: 'GrayText',
  accent: 'LinkText',
  soft: 'Canvas',
  focus: 'Highlight',
  warn: 'CanvasText',
  states: cellStates.map((state) => (state === 'failed' || state === 'running' ? 'LinkText' : 'CanvasText')),
}

export function readPalette(): Palette {
  if (forced.matches) return system
  const style = getComputedStyle(document.documentElement)
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const colour = (state: CellState) => token(`state-${state === 'superseded' ? 'canceled' : state}`)
  return {
    surface: token('surface'),
    sunken: token('sunken'),
    line: token('line'),
    strong: token('line-strong'),
    ink: token('ink'),
    faint: token('ink-3'),
    accent: token('accent'),
    soft: token('accent-soft'),
    focus: token('focus'),
    warn: token('warn'),
    states: cellStates.map(colour),
  }
}

/** Calls back when the colours are others, by the theme or by the system. Answers how to end it. */
export function watchPalette(onChange: () => void): () => void {
  const theme = new MutationObserver(onChange)
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const contrast = matchMedia('(prefers-contrast: more)')
  for (const query of [forced, contrast]) query.addEventListener('change', onChange)
  return () => {
    theme.disconnect()
    for (const query of [forced, contrast]) query.removeEventListener('change', onChange)
  }
}
