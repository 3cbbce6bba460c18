import { describe, expect, test } from 'vitest'
import { isWithin, specialtyOf, toAddress, toBlock, toDestination } from './address.ts'

const judge = (text: string) => {
  const address = toAddress(text)
  return address === undefined ? 'no address' : specialtyOf(toDestination(address))
}

describe('an address is inside the house when it is', () => {
  test.each([
    ['this host', '0.0.0.0', '0.1.2.3', '::'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fdff:ffff::1'],
    ['of the provider', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
    ['link-local, as where clouds keep credentials', '169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
    ['where clouds keep services', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
    ['multicast or broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
    ['for documentation or measurements', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '2001:db8::1'],
    [
      'reserved',
      '240.0.0.1',
      '192.88.99.1',
      '2001::1',
      '2001:20::1',
      '3fff::1',
      'fec0::1',
      '100::1',
      '5f00::1',
      '4000::1',
    ],
    ['an IPv4 address in disguise', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe', '::ffff:10.0.0.1'],
    ['an IPv4 address behind a translator', '64:ff9b::127.0.0.1', '64:ff9b::a00:1', '2002:7f00:1::', '2002:a00:1::1'],
    ['of a translator’s own range', '64:ff9b:1::1', '::127.0.0.1', '::7f00:1', '::ffff:0:127.0.0.1'],
  ])('%s', (_, ...addresses) => {
    for (const address of addresses) expect(judge(address), address).toEqual(expect.any(String))
  })
})

test('an address that everybody can reach is outside', () => {
  for (const address of [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2002:101:101::1',
  ])
    expect(judge(address), address).toBeUndefined()
})

test('what is not an address is none', () => {
  for (const text of [
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '0177.0.0.1',
    '2130706433',
    '1.2.3.4.5',
    ':::1',
    '1::2::3',
  ])
    expect(toAddress(text), text).toBeUndefined()
})

test('a range holds the addresses that begin like it', () => {
  const holds = (range: string, address: string) => {
    const [block, found] = [toBlock(range), toAddress(address)]
    return block !== undefined && found !== undefined && isWithin(found, block)
  }
  expect(holds('10.0.0.0/8', '10.255.0.1')).toBe(true)
  expect(holds('10.0.0.0/8', '11.0.0.0')).toBe(false)
  expect(holds('127.0.0.1', '127.0.0.1')).toBe(true)
  expect(holds('127.0.0.1', '127.0.0.2')).toBe(false)
  expect(holds('0.0.0.0/0', '1.2.3.4')).toBe(true)
  expect(holds('fd00::/8', 'fdab::1')).toBe(true)
  expect(holds('::/0', '1.2.3.4')).toBe(false)
  for (const text of ['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', 'host', '*.host'])
    expect(toBlock(text), text).toBeUndefined()
})
