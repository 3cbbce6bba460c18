import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 32 random bytes: too many to guess, so a fast hash of them is safe to keep. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Compares in constant time, whatever the lengths: both sides are hashed first. */
export function matches(given: string, hash: Buffer): boolean {
  return timingSafeEqual(hashOf(given), hash)
}
