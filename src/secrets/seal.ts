// Values are sealed by AES-256-GCM. What a row says of itself is part of what is authenticated: a value that somebody
// copied to another row, or an older one put back, does not open.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Where a value belongs. */
export type Place = { readonly archive: string; readonly name: string; readonly version: number }

const bind = ({ archive, name, version }: Place) => Buffer.from(JSON.stringify([archive, name, version]))

export function seal(key: Buffer, place: Place, value: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bind(place))
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

/** The value; throws when the key, the place or a byte is another one. */
export function open(key: Buffer, place: Place, sealed: Buffer): string {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(bind(place)).setAuthTag(tag)
  const opened = [decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
  return Buffer.concat(opened).toString('utf8')
}
