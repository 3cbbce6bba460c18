// Which addresses requests may go to. An address is judged by its number, never by how it is written.
import { isIPv4, isIPv6 } from 'node:net'

type Address = { readonly family: 4 | 6; readonly number: bigint }

/** A range of addresses, as `10.0.0.0/8` writes it. */
export type Block = Address & { readonly prefix: number }

/** The range that a text names: `10.0.0.0/8`, `fd00::/8`, or one address. Undefined when it names none. */
export function toBlock(text: string): Block | undefined {
  const [host = '', length, ...rest] = text.split('/')
  const address = toAddress(host)
  if (address === undefined || rest.length > 0) return undefined
  const width = address.family === 4 ? 32 : 128
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const prefix = length === undefined ? width : Number(length)
  return prefix <= width ? { ...address, prefix } : undefined
}

export function isWithin(address: Address, block: Block): boolean {
  const rest = BigInt((block.family === 4 ? 32 : 128) - block.prefix)
  return address.family === block.family && address.number >> rest === block.number >> rest
}

/** The number of an address as the system writes it. Undefined for anything else, a name for example. */
export function toAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, number: fromParts(text.split('.').map(Number), 8n) }
  const [plain = ''] = text.split('%') // the zone of a link-local address says only by which way it is reached
  if (!isIPv6(plain)) return undefined
  // The last four bytes may be written like an IPv4 address.
  const whole = plain.replace(/[\d.]+\.[\d.]+$/, (last) => {
    const [a = 0, b = 0, c = 0, d = 0] = last.split('.').map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = whole.split('::')
  const before = words(head)
  const after = words(tail ?? '')
  const between = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return { family: 6, number: fromParts([...before, ...between, ...after], 16n) }
}

const words = (text: string) => (text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16)))
const fromParts = (parts: readonly number[], bits: bigint) =>
  parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n)

const range = (text: string): Block => toBlock(text) as Block

/** The IPv6 ranges that lead to an IPv4 address, and how many bits stand behind it. */
const carriers: readonly (readonly [block: Block, behind: bigint])[] = [
  [range('::ffff:0:0/96'), 0n], // mapped
  [range('64:ff9b::/96'), 0n], // translated by NAT64
  [range('2002::/16'), 80n], // 6to4
]

/** The IPv4 address that an IPv6 address leads to, or the address itself. */
export function toDestination(address: Address): Address {
  const carrier = carriers.find(([block]) => isWithin(address, block))
  return carrier === undefined ? address : { family: 4, number: (address.number >> carrier[1]) & 0xffff_ffffn }
}

/** Everything that IANA's registries of special addresses do not call globally reachable. */
const reserved: readonly (readonly [block: Block, is: string])[] = [
  [range('0.0.0.0/8'), 'an address of this host'],
  [range('10.0.0.0/8'), 'a private address'],
  [range('100.64.0.0/10'), 'an address of the provider’s own network'],
  [range('127.0.0.0/8'), 'a loopback address'],
  [range('168.63.129.16/32'), 'an address of a cloud’s own services'],
  [range('169.254.0.0/16'), 'a link-local address'],
  [range('172.16.0.0/12'), 'a private address'],
  [range('192.0.0.0/24'), 'a reserved address'],
  [range('192.0.2.0/24'), 'an address for documentation'],
  [range('192.88.99.0/24'), 'a reserved address'],
  [range('192.168.0.0/16'), 'a private address'],
  [range('198.18.0.0/15'), 'an address for measurements'],
  [range('198.51.100.0/24'), 'an address for documentation'],
  [range('203.0.113.0/24'), 'an address for documentation'],
  [range('224.0.0.0/4'), 'a multicast address'],
  [range('240.0.0.0/4'), 'a reserved address'],
  [range('::/128'), 'an address of this host'],
  [range('::1/128'), 'a loopback address'],
  [range('fc00::/7'), 'a private address'],
  [range('fe80::/10'), 'a link-local address'],
  [range('ff00::/8'), 'a multicast address'],
  [range('2001::/23'), 'a reserved address'],
  [range('2001:db8::/32'), 'an address for documentation'],
  [range('3fff::/20'), 'an address for documentation'],
]

const GLOBAL_UNICAST = range('2000::/3')

/** Says what is special about an address that only some may reach; undefined for one that everybody can. */
export function specialtyOf(address: Address): string | undefined {
  const found = reserved.find(([block]) => isWithin(address, block))?.[1]
  if (found !== undefined) return found
  return address.family === 4 || isWithin(address, GLOBAL_UNICAST) ? undefined : 'a reserved address'
}
