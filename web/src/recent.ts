// The places where somebody was last, kept by their browser.
const KEY = 'millrace-recent'
const MOST = 8

export type Recent = { readonly href: string; readonly title: string }

export function readRecent(): readonly Recent[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isRecent).slice(0, MOST) : []
  } catch {
    return []
  }
}

const isRecent = (one: unknown): one is Recent => {
  const { href, title } = (one ?? {}) as Partial<Recent>
  return typeof title === 'string' && typeof href === 'string' && /^\/(?![/\\])/.test(href)
}

export function rememberRecent(place: Recent): void {
  try {
    const others = readRecent().filter(({ href }) => href !== place.href)
    localStorage.setItem(KEY, JSON.stringify([place, ...others].slice(0, MOST)))
  } catch {
    // Without storage there are no recent places.
  }
}
