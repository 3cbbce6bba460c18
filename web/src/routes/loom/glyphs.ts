// The signs of states, drawn so that they are sharp at every size: a shape for each, so that colour is never alone.
import { codeOf } from './cloth.ts'

type Pen = CanvasRenderingContext2D

const TURN = Math.PI * 2

function ring(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath()
  pen.arc(x, y, radius, 0, TURN)
  pen.stroke()
}

/** A part of a disc, in turns: 0 is on the right, a quarter at the bottom. */
function sector(pen: Pen, [x, y, radius]: readonly [number, number, number], from: number, to: number): void {
  pen.beginPath()
  pen.moveTo(x, y)
  pen.arc(x, y, radius, from * TURN, to * TURN)
  pen.closePath()
  pen.fill()
}

function strokes(pen: Pen, ...lines: readonly (readonly [number, number, number, number])[]): void {
  pen.beginPath()
  for (const [x1, y1, x2, y2] of lines) {
    pen.moveTo(x1, y1)
    pen.lineTo(x2, y2)
  }
  pen.stroke()
}

type Draw = (pen: Pen, x: number, y: number, radius: number) => void

const diamond: Draw = (pen, x, y, r) => {
  pen.beginPath()
  pen.moveTo(x, y - r)
  pen.lineTo(x + r, y)
  pen.lineTo(x, y + r)
  pen.lineTo(x - r, y)
  pen.closePath()
  pen.stroke()
}
const crossed: Draw = (pen, x, y, r) => {
  ring(pen, x, y, r)
  const d = r * 0.7
  strokes(pen, [x - d, y + d, x + d, y - d])
}

const draws: Readonly<Record<number, Draw>> = {
  [codeOf.waiting]: ring,
  [codeOf.delayed]: (pen, x, y, r) => {
    ring(pen, x, y, r)
    sector(pen, [x, y, r], -0.25, 0)
  },
  [codeOf.ready]: diamond,
  [codeOf.running]: (pen, x, y, r) => {
    ring(pen, x, y, r)
    sector(pen, [x, y, r], 0.25, 0.75)
  },
  [codeOf.held]: (pen, x, y, r) => strokes(pen, [x - 2.5, y - r, x - 2.5, y + r], [x + 2.5, y - r, x + 2.5, y + r]),
  [codeOf.succeeded]: (pen, x, y, r) => sector(pen, [x, y, r + 0.6], 0, 1),
  [codeOf.failed]: (pen, x, y, r) => {
    const d = r * 0.85
    strokes(pen, [x - d, y - d, x + d, y + d], [x - d, y + d, x + d, y - d])
  },
  [codeOf.canceled]: crossed,
  [codeOf.skipped]: (pen, x, y, r) => strokes(pen, [x - r * 0.8, y, x + r * 0.8, y]),
  [codeOf.superseded]: crossed,
}

export function drawGlyph(pen: Pen, code: number, at: { x: number; y: number; radius: number; colour: string }): void {
  pen.strokeStyle = at.colour
  pen.fillStyle = at.colour
  pen.lineWidth = code === codeOf.failed || code === codeOf.held ? 2.4 : 1.7
  pen.lineCap = 'round'
  draws[code]?.(pen, at.x, at.y, at.radius)
}
