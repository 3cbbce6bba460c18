import { hashOf, matches, randomSecret } from './secret.ts'

const VALID_MS = 15 * 60_000

export type SignInLink = {
  /** The secret stands after the #, which browsers do not send: it reaches no log on the way. */
  readonly url: string
  /** Says whether `secret` opens the door, and closes it behind: a second use and a late one are refused. */
  readonly redeem: (secret: string, now?: number) => boolean
}

/** A link that signs one person in as the administrator, once, within 15 minutes. Only a hash of its secret is kept. */
export function createSignInLink(baseUrl: string, now: number = Date.now()): SignInLink {
  const secret = randomSecret()
  const hash = hashOf(secret)
  const validUntil = now + VALID_MS
  let isUsed = false
  return {
    url: `${baseUrl}/sign-in#${secret}`,
    redeem(given, at = Date.now()) {
      if (isUsed || at >= validUntil || !matches(given, hash)) return false
      isUsed = true
      return true
    },
  }
}
