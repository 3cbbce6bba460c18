// The canvas: as large as what is in view, as sharp as the screen, and drawn only when something in it has changed.
import { type View, windowOf } from './layout.ts'
import { paint, type Scene } from './paint.ts'
import { type Palette, readPalette, watchPalette } from './palette.ts'

export type Drawn = Omit<Scene, 'view' | 'window' | 'palette' | 'slide'>

const SLIDE_MS = 220
const stillness = matchMedia('(prefers-reduced-motion: reduce)')

export class Sheet {
  readonly #canvas: HTMLCanvasElement
  readonly #pen: CanvasRenderingContext2D | null
  readonly #onSlide: (offset: number) => void
  readonly #onDrawn: () => void
  readonly #endPalette: () => void
  #palette: Palette = readPalette()
  #drawn: Drawn | undefined
  #view: View = { left: 0, top: 0, width: 0, height: 0 }
  #frame = 0
  #slide: { from: number; at: number } | undefined

  constructor(canvas: HTMLCanvasElement, on: { slide: (offset: number) => void; drawn: () => void }) {
    this.#canvas = canvas
    this.#pen = canvas.getContext('2d', { alpha: false })
    this.#onSlide = on.slide
    this.#onDrawn = on.drawn
    this.#endPalette = watchPalette(() => {
      this.#palette = readPalette()
      this.damage()
    })
  }

  show(drawn: Drawn): void {
    this.#drawn = drawn
    this.damage()
  }

  look(view: View): void {
    const { left, top, width, height } = this.#view
    if (left === view.left && top === view.top && width === view.width && height === view.height) return
    this.#view = view
    this.damage()
  }

  /** Rows that have come at the top slide down into their places, unless the person wants no motion. */
  slideIn(height: number): void {
    if (stillness.matches) return
    this.#slide = { from: -height, at: performance.now() }
    this.damage()
  }

  /** Draws with the next frame, once. */
  damage(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame((now) => this.#draw(now))
  }

  #draw(now: number): void {
    this.#frame = 0
    if (this.#pen === null || this.#drawn === undefined || this.#view.width === 0) return
    const scale = devicePixelRatio
    const [width, height] = [Math.round(this.#view.width * scale), Math.round(this.#view.height * scale)]
    if (this.#canvas.width !== width || this.#canvas.height !== height) {
      this.#canvas.width = width
      this.#canvas.height = height
    }
    const slide = this.#slideAt(now)
    const window = windowOf(this.#drawn.at, this.#view)
    paint(this.#pen, { ...this.#drawn, view: this.#view, window, palette: this.#palette, slide }, scale)
    this.#onDrawn()
  }

  #slideAt(now: number): number {
    if (this.#slide === undefined) return 0
    const part = Math.min(1, Math.max(0, (now - this.#slide.at) / SLIDE_MS))
    const offset = part >= 1 ? 0 : this.#slide.from * (1 - part) ** 3
    if (part >= 1) this.#slide = undefined
    else this.damage()
    this.#onSlide(offset)
    return offset
  }

  close(): void {
    cancelAnimationFrame(this.#frame)
    // A sheet that is closed draws no more, whatever still asks it to.
    this.#frame = -1
    this.#endPalette()
  }
}
