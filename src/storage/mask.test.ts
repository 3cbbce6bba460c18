import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMasker } from './mask.ts'

/** Masks the pieces one after the other; answers what came after each, and in the end. */
function maskAll(secrets: string[], pieces: string[]): string[] {
  const masker = createMasker(secrets)
  return [...pieces.map((piece) => masker.push(Buffer.from(piece))), masker.end()].map(String)
}

const mask = (secrets: string[], ...pieces: string[]) => maskAll(secrets, pieces).join('')

test('a secret is replaced wherever it stands', () => {
  expect(mask(['hunter2'], 'hunter2 is hunter2, not hunter3')).toBe('*** is ***, not hunter3')
  expect(mask(['a', 'bcd'], 'xaxbcdx')).toBe('x***x***x')
  expect(mask([], 'hunter2')).toBe('hunter2')
  expect(mask(['', '  '], 'a  b')).toBe('a  b')
})

test('a secret that is cut by reads is replaced all the same', () => {
  expect(mask(['hunter2'], ...'my hunter2!'.split(''))).toBe('my ***!')
  expect(mask(['hunter2'], 'hunt', 'er2', 'hunt', 'er3')).toBe('***hunter3')
})

test('only what may be the beginning of a secret is kept back, and not for ever', () => {
  expect(maskAll(['hunter2'], ['a hun', 'gry h'])).toEqual(['a ', 'hungry ', 'h'])
  expect(maskAll(['abab', 'x'], ['ab', 'ac'])).toEqual(['', 'abac', ''])
})

test('a secret within another and secrets that overlap leave no part of either', () => {
  expect(mask(['abc', 'abcdef'], 'abc', 'def')).toBe('***')
  expect(mask(['abc', 'abcdef'], 'abc', 'dex')).toBe('***dex')
  expect(mask(['abX', 'Xyz'], 'abX', 'yz!')).toBe('***!')
  expect(mask(['aa'], 'aaa', 'aa')).toBe('***')
})

test('white space around a secret does not matter, and its longer lines count alone', () => {
  const key = '\n-----BEGIN KEY-----\nMIIBVwIBADANBg\n}\n-----END KEY-----\n'
  expect(mask([key], `${key.trim()} and MIIBVwIBADANBg}`)).toBe('*** and ***}')
})

test('bytes that are no text pass unharmed', () => {
  const masker = createMasker(['é'])
  const bytes = Buffer.from([0xff, 0xc3, 0xc3, 0xa9, 0x00])
  expect(Buffer.concat([masker.push(bytes), masker.end()])).toEqual(
    Buffer.concat([Buffer.from([0xff, 0xc3]), Buffer.from('***'), Buffer.from([0])]),
  )
})

test('memory stays bounded when secrets follow each other without end', () => {
  const masker = createMasker(['aa', 'aaaaaaaaab'])
  const piece = Buffer.alloc(10_000, 'a')
  for (let i = 0; i < 50; i += 1) expect(masker.push(piece).length).toBeLessThan(10)
  expect(masker.end().length).toBeLessThan(10)
})

test('however the bytes are cut, the result is the same and holds no secret', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 3 }), fc.array(letters), (secrets, pieces) => {
      const whole = mask(secrets, pieces.join(''))
      expect(mask(secrets, ...pieces)).toBe(whole)
      for (const secret of secrets) expect(whole).not.toContain(secret)
    }),
    { numRuns: 2000 },
  )
})
