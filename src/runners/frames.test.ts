import { expect, test } from 'vitest'
import { FrameReader } from './frames.ts'

const frame = (type: string, payload: string) => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, Buffer.from(payload)])
}

test('frames are read wherever the bytes are cut', () => {
  const whole = Buffer.concat([
    frame('H', 'hello'),
    frame('O', 'out'),
    frame('E', 'error'),
    frame('O', ''),
    frame('X', 'gone'),
  ])
  for (let first = 0; first <= whole.length; first += 1)
    for (let second = first; second <= whole.length; second += 3) {
      const reader = new FrameReader()
      const pieces = [whole.subarray(0, first), whole.subarray(first, second), whole.subarray(second)]
      const said = { stdout: '', stderr: '', others: '' }
      for (const one of pieces.flatMap((piece) => reader.read(piece))) {
        if (one.type === 'output') said[one.stream] += one.bytes
        else said.others += `${one.type} ${one.payload.toString()} `
      }
      expect(said).toEqual({ stdout: 'out', stderr: 'error', others: 'H hello X gone ' })
    }
})

test('what no keeper says is refused', () => {
  expect(() => new FrameReader().read(Buffer.from('GET / HTTP/1.1\r\n'))).toThrow('no keeper')
  expect(() => new FrameReader().read(Buffer.from('H\xff\xff\xff\xff', 'latin1'))).toThrow('no keeper')
})
