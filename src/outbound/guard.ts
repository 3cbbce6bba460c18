// Keeps requests out of the house. A name is resolved once for each connection, its addresses are judged, and the
// connection goes to one of those very addresses: a name that resolves to something else a moment later gains nothing.
import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { type Block, isWithin, specialtyOf, toAddress, toBlock, toDestination } from './address.ts'
import { AddressRefused, UrlRefused } from './errors.ts'

type Found = { readonly address: string; readonly family: number }

/** Answers all addresses of a name, as the system knows them. */
export type Resolve = (host: string) => Promise<readonly Found[]>

export type Guard = {
  /** The URL, when requests may go there as far as can be told without resolving its name. Throws what refuses it. */
  readonly check: (url: string) => URL
  /** For connections: answers only addresses that they may be made to. */
  readonly lookup: LookupFunction
}

const LONGEST_URL = 2000

/** `allow` names what may be reached although it is inside: hosts, `*.` and the end of hosts, addresses, ranges. */
export function createGuard(allow: readonly string[], resolve: Resolve = resolveBySystem): Guard {
  const blocks = allow.flatMap((entry) => toBlock(entry) ?? [])
  const names = allow.filter((entry) => toBlock(entry) === undefined).map((entry) => entry.toLowerCase())
  const isNamed = (host: string) =>
    names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name))

  /** The addresses of a host that may be connected to. */
  const judge = async (host: string): Promise<Found[]> => {
    const found = await resolve(host)
    if (isNamed(plain(host))) return [...found]
    const refusals = found.map(({ address }) => refusalOf(address, blocks))
    const good = found.filter((_, i) => refusals[i] === undefined)
    if (good.length > 0) return good
    throw new AddressRefused(host, `it resolves to ${found[0]?.address}, ${refusals[0]}`)
  }

  return {
    check(text) {
      const url = parse(text)
      // The parser has turned every way to write an IPv4 address (octal, one number, full-width digits) into the usual one.
      const literal = url.hostname.replace(/^\[(.*)\]$/, '$1')
      const refusal = toAddress(literal) === undefined ? undefined : refusalOf(literal, blocks)
      if (refusal !== undefined && !isNamed(literal)) throw new AddressRefused(literal, `it is ${refusal}`)
      return url
    },
    lookup(host, options, callback) {
      const answer = callbackify(judge)
      answer(host, (error, found) => {
        if (error !== null) callback(error, '')
        else if (options.all === true) callback(null, found)
        else callback(null, found[0]?.address ?? '', found[0]?.family ?? 4)
      })
    },
  }
}

/** Without the dot that ends an absolute name. */
const plain = (host: string) => host.toLowerCase().replace(/\.$/, '')

function refusalOf(text: string, allowed: readonly Block[]): string | undefined {
  const address = toAddress(text)
  if (address === undefined) return 'which is no address'
  const destination = toDestination(address)
  return allowed.some((block) => isWithin(destination, block)) ? undefined : specialtyOf(destination)
}

function parse(text: string): URL {
  if (text.length > LONGEST_URL) throw new UrlRefused(`it is longer than ${LONGEST_URL} characters`)
  if (!URL.canParse(text)) throw new UrlRefused('it cannot be understood')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new UrlRefused('only https: and http: are taken')
  if (url.username !== '' || url.password !== '') throw new UrlRefused('it carries a name or a password')
  return url
}

const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true, verbatim: true })
