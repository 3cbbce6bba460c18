// Which page somebody wanted before they were asked to sign in. It is kept by the browser: the link that signs them in
// comes from elsewhere, often into another tab, and does not know.
const KEY = 'millrace-asked'
const KEPT_MS = 20 * 60_000

export function rememberAsked(href: string): void {
  try {
    if (!href.startsWith('/sign-in')) localStorage.setItem(KEY, JSON.stringify({ href, at: Date.now() }))
  } catch {
    // Without storage they begin at the overview.
  }
}

/** A path of this dashboard and nothing else: `//host` would lead elsewhere. */
export const isOwnPath = (href: string): boolean => /^\/(?![/\\])/.test(href)

/** The page, once; undefined when none was wanted lately. */
export function takeAsked(): string | undefined {
  try {
    const { href, at } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as { href?: unknown; at?: unknown }
    localStorage.removeItem(KEY)
    const isLate = typeof at !== 'number' || Date.now() - at > KEPT_MS
    return typeof href === 'string' && isOwnPath(href) && !isLate ? href : undefined
  } catch {
    return undefined
  }
}
