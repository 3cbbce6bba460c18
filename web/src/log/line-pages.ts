// The lines of a log that are near what is shown, and no more: pages of lines, fetched when they come into view, forgotten
// when they have not been looked at for long. How long the log is does not matter for memory or for what is fetched.
import type { BodyAnswered, routes } from '../api.ts'
import { plainPen } from './ansi.ts'
import { readLine, type ShownLine } from './read-line.ts'

export type LogAnswer = BodyAnswered<typeof routes.taskLog.lines>
export type LogLine = LogAnswer['items'][number] & { readonly shown: ShownLine }

export type LinePagesOptions = {
  readonly fetch: (from: number, limit: number, signal: AbortSignal) => Promise<LogAnswer>
  readonly onChange: () => void
  readonly pageSize?: number
  /** Most pages, and most characters in them; what is shown is kept in any case. */
  readonly mostPages?: number
  readonly mostCharacters?: number
}

type Page = { lines: LogLine[]; characters: number; usedAt: number }

export type LogFacts = Pick<LogAnswer, 'total_lines' | 'total_bytes' | 'is_complete' | 'first_error_line' | 'attempt'>

export class LinePages {
  readonly #options: Required<LinePagesOptions>
  readonly #pages = new Map<number, Page>()
  readonly #underWay = new Map<number, AbortController>()
  readonly #closed = new AbortController()
  #shown: readonly [number, number] = [0, -1]
  #uses = 0
  #facts: LogFacts | undefined
  #error: unknown

  constructor(options: LinePagesOptions) {
    this.#options = { pageSize: 500, mostPages: 24, mostCharacters: 16_000_000, ...options }
  }

  /** Undefined until the first answer. */
  get facts(): LogFacts | undefined {
    return this.#facts
  }

  /** Why lines that are wanted are not there. */
  get error(): unknown {
    return this.#error
  }

  /** How many lines are kept. */
  get size(): number {
    return [...this.#pages.values()].reduce((sum, { lines }) => sum + lines.length, 0)
  }

  line(number: number): LogLine | undefined {
    const page = this.#pages.get(this.#pageOf(number))
    return page?.lines[(number - 1) % this.#options.pageSize]
  }

  /** Says which lines are in view: what is missing is fetched, and what is no longer wanted is not waited for. */
  show(from: number, to: number): void {
    const last = Math.min(to, this.#facts?.total_lines ?? to)
    this.#shown = [this.#pageOf(Math.max(1, from)), this.#pageOf(Math.max(1, last))]
    const [first, end] = this.#shown
    for (const [number, controller] of this.#underWay) {
      if (number >= first && number <= end) continue
      controller.abort()
      this.#underWay.delete(number)
    }
    for (let number = first; number <= end; number++) this.#fill(number)
  }

  /** Tries again what went wrong. */
  retry(): void {
    this.#error = undefined
    const [first, end] = this.#shown
    for (let number = first; number <= end; number++) this.#fill(number)
    this.#options.onChange()
  }

  /** Asks what has come since. Answers whether anything has. */
  async poll(): Promise<boolean> {
    const known = this.#facts?.total_lines ?? 0
    const before = this.line(Math.max(1, known))?.length
    // The last line may have grown.
    const from = Math.max(1, known)
    const answer = await this.#options.fetch(from, this.#options.pageSize, this.#closed.signal)
    if (this.#closed.signal.aborted) return false
    this.#take(answer)
    return answer.total_lines > known || this.line(from)?.length !== before
  }

  close(): void {
    this.#closed.abort()
    for (const controller of this.#underWay.values()) controller.abort()
    this.#underWay.clear()
  }

  #pageOf(line: number): number {
    return Math.floor((line - 1) / this.#options.pageSize)
  }

  /** How many lines a page has at present. */
  #expected(number: number): number {
    const { pageSize } = this.#options
    const total = this.#facts?.total_lines
    return total === undefined ? pageSize : Math.max(0, Math.min(pageSize, total - number * pageSize))
  }

  #fill(number: number): void {
    const page = this.#pages.get(number)
    this.#uses += 1
    if (page !== undefined) page.usedAt = this.#uses
    if (this.#underWay.has(number) || this.#error !== undefined) return
    if ((page?.lines.length ?? 0) >= this.#expected(number) && this.#facts !== undefined) return
    const controller = new AbortController()
    this.#underWay.set(number, controller)
    this.#fetch(number, controller.signal)
      .catch((error) => {
        if (!controller.signal.aborted) this.#error = error
      })
      .finally(() => {
        if (this.#underWay.get(number) === controller) this.#underWay.delete(number)
        if (!controller.signal.aborted) this.#options.onChange()
      })
  }

  /** An answer may end before the page does: it is bounded in bytes, too. */
  async #fetch(number: number, signal: AbortSignal): Promise<void> {
    const { pageSize, fetch } = this.#options
    for (;;) {
      const had = this.#pages.get(number)?.lines.length ?? 0
      const answer = await fetch(number * pageSize + had + 1, pageSize - had, signal)
      if (signal.aborted) return
      this.#take(answer)
      const has = this.#pages.get(number)?.lines.length ?? 0
      if (has >= this.#expected(number) || has === had) return
    }
  }

  #take({ items, ...facts }: LogAnswer): void {
    this.#facts = facts
    for (const item of items) this.#put(item)
    this.#forget()
    this.#options.onChange()
  }

  #put(item: LogAnswer['items'][number]): void {
    const { pageSize } = this.#options
    const number = this.#pageOf(item.number)
    const place = (item.number - 1) % pageSize
    let page = this.#pages.get(number)
    if (page === undefined) {
      // A page is filled from its beginning: a line in its middle, told of by a poll, is fetched with the rest.
      if (place > 0) return
      page = { lines: [], characters: 0, usedAt: this.#uses }
      this.#pages.set(number, page)
    }
    if (place > page.lines.length) return
    const before = page.lines[place - 1]?.shown.pen ?? plainPen
    page.characters += item.text.length - (page.lines[place]?.text.length ?? 0)
    page.lines[place] = { ...item, shown: readLine(item.text, before) }
  }

  #forget(): void {
    const { mostPages, mostCharacters } = this.#options
    const [first, end] = this.#shown
    const idle = [...this.#pages].filter(([number]) => number < first || number > end)
    idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    let characters = [...this.#pages.values()].reduce((sum, page) => sum + page.characters, 0)
    for (const [number, page] of idle) {
      if (this.#pages.size <= mostPages && characters <= mostCharacters) return
      this.#pages.delete(number)
      characters -= page.characters
    }
  }
}
