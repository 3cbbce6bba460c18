import { expect, test } from 'vitest'
import { createSessions } from './session.ts'
import { createSignInLink } from './sign-in-link.ts'

const MINUTE = 60_000
const link = (now = 0) => {
  const made = createSignInLink('http://127.0.0.1:7420', now)
  return { ...made, secret: made.url.split('#')[1] ?? '' }
}

test('a link carries its secret after the #', () => {
  expect(link().url).toMatch(/^http:\/\/127\.0\.0\.1:7420\/sign-in#[\w-]{43}$/)
})

test('a link works once', () => {
  const { redeem, secret } = link()
  expect(redeem(secret, MINUTE)).toBe(true)
  expect(redeem(secret, MINUTE)).toBe(false)
})

test('a wrong secret is refused and does not use the link up', () => {
  const { redeem, secret } = link()
  expect(redeem(`${secret}x`, MINUTE)).toBe(false)
  expect(redeem(secret, MINUTE)).toBe(true)
})

test('a link is refused after 15 minutes', () => {
  const { redeem, secret } = link()
  expect(redeem(secret, 15 * MINUTE)).toBe(false)
})

test('a session is open until it expires, and no other secret opens one', () => {
  const sessions = createSessions()
  const secret = sessions.open(0)
  expect(sessions.isOpen(secret, MINUTE)).toBe(true)
  expect(sessions.isOpen(`${secret}x`, MINUTE)).toBe(false)
  expect(sessions.isOpen(secret, 8 * 24 * 60 * MINUTE)).toBe(false)
})
