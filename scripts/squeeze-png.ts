import { deflateSync, inflateSync } from 'node:zlib'

const HEAD = 8 // bytes of signature
const PIECES = new Set(['IHDR', 'IDAT', 'IEND'])

/** The same picture in fewer bytes: browsers compress for speed, and add what nobody needs. */
export function squeezePng(png: Buffer): Buffer {
  const pieces: { name: string; data: Buffer }[] = []
  for (let at = HEAD; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    if (PIECES.has(name)) pieces.push({ name, data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  const pixels = inflateSync(Buffer.concat(pieces.filter(({ name }) => name === 'IDAT').map(({ data }) => data)))
  const header = pieces.find(({ name }) => name === 'IHDR')?.data ?? Buffer.alloc(0)
  const squeezed = [
    { name: 'IHDR', data: header },
    { name: 'IDAT', data: deflateSync(pixels, { level: 9, memLevel: 9 }) },
    { name: 'IEND', data: Buffer.alloc(0) },
  ]
  const result = Buffer.concat([png.subarray(0, HEAD), ...squeezed.map(toPiece)])
  return result.length < png.length ? result : png
}

function toPiece({ name, data }: { readonly name: string; readonly data: Buffer }): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(checksum(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1
  return sum
})

/** CRC-32; Node has one of its own from 22.2 on. */
function checksum(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}
