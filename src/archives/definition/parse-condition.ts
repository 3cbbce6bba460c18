import { type Condition, FIELDS, type Field, type Operand, TRIGGERS } from './condition.ts'
import { isGlobProblem, parseGlob, parseTextGlob } from './glob.ts'
import { nearest } from './nearest.ts'

export type ConditionProblem = {
  readonly at: number
  readonly length: number
  readonly message: string
  readonly suggestion?: string | undefined
}

type Token = {
  readonly kind: 'word' | 'text' | 'sign' | 'end'
  readonly text: string
  readonly at: number
  readonly length: number
}

const TOKEN = /\s*(?:([A-Za-z_][\w.-]*)|'([^']*)'|"([^"]*)"|(==|!=|&&|\|\||[()[\],!=<>]))/y
const WORDS = ['and', 'or', 'not', 'in', 'contains', 'matches', 'true', 'false']
const INSTEAD: Readonly<Record<string, string>> = {
  '&&': 'write and',
  '||': 'write or',
  '!': 'write not',
  '=': 'write ==',
}
const LONGEST = 1000
const DEEPEST = 50

class Refused extends Error {
  readonly problem: ConditionProblem
  constructor(problem: ConditionProblem) {
    super(problem.message)
    this.problem = problem
  }
}

/**
 * Reads a condition such as `trigger == "commit" and not (author in ["robot"] or paths matches "drafts/**")`. `not`
 * binds tightest, then `and`, then `or`.
 */
export function parseCondition(text: string): Condition | ConditionProblem {
  if (text.length > LONGEST)
    return { at: 0, length: text.length, message: `a condition has at most ${LONGEST} characters` }
  try {
    return new Reading(tokenize(text)).all()
  } catch (error) {
    if (error instanceof Refused) return error.problem
    throw error
  }
}

export function isConditionProblem(value: Condition | ConditionProblem): value is ConditionProblem {
  return 'message' in value
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let from = 0
  while (text.slice(from).trim() !== '') {
    TOKEN.lastIndex = from
    const match = TOKEN.exec(text)
    if (match === null) throw unreadable(text, from)
    const [all, word, single, double, sign = ''] = match
    const content = single ?? double
    const length = all.trimStart().length
    const kind = word !== undefined ? 'word' : content !== undefined ? 'text' : 'sign'
    tokens.push({ kind, text: word ?? content ?? sign, at: TOKEN.lastIndex - length, length })
    from = TOKEN.lastIndex
  }
  return [...tokens, { kind: 'end', text: 'the end', at: text.trimEnd().length, length: 0 }]
}

function unreadable(text: string, from: number): Refused {
  const at = from + (text.slice(from).length - text.slice(from).trimStart().length)
  if (/['"]/.test(text[at] ?? ''))
    return new Refused({ at, length: text.length - at, message: 'the quote is not closed' })
  const suggestion = /[\w*/.-]/.test(text[at] ?? '') ? 'put text in quotes' : undefined
  return new Refused({ at, length: 1, message: `${JSON.stringify(text[at])} cannot stand here`, suggestion })
}

class Reading {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  all(): Condition {
    const condition = this.#or()
    const rest = this.#peek()
    if (rest.kind !== 'end')
      throw this.#refuse(rest, `expected and, or, or the end, not ${shown(rest)}`, INSTEAD[rest.text])
    return condition
  }

  #or(): Condition {
    let left = this.#and()
    while (this.#takes('or')) left = { kind: 'or', left, right: this.#and() }
    return left
  }

  #and(): Condition {
    let left = this.#not()
    while (this.#takes('and')) left = { kind: 'and', left, right: this.#not() }
    return left
  }

  #not(): Condition {
    const token = this.#peek()
    this.#depth += 1
    if (this.#depth > DEEPEST) throw this.#refuse(token, `a condition is nested at most ${DEEPEST} levels deep`)
    const condition = this.#takes('not') ? ({ kind: 'not', of: this.#not() } as const) : this.#one()
    this.#depth -= 1
    return condition
  }

  #one(): Condition {
    const token = this.#peek()
    if (this.#takes('(')) {
      const inner = this.#or()
      const close = this.#take()
      if (close.text !== ')' || close.kind !== 'sign') throw this.#refuse(close, `expected ), not ${shown(close)}`)
      return inner
    }
    if (this.#takes('true')) return { kind: 'always', holds: true }
    if (this.#takes('false')) return { kind: 'always', holds: false }
    return this.#comparison(token, this.#operand())
  }

  #comparison(first: Token, left: Operand): Condition {
    const operator = this.#take()
    if (operator.kind === 'word' || operator.kind === 'sign') {
      switch (operator.text) {
        case '==':
        case '!=':
          return negateIf(operator.text === '!=', this.#equal(first, left))
        case 'in':
          return this.#in(first, left)
        case 'not': {
          const next = this.#take()
          if (next.text !== 'in') throw this.#refuse(next, `expected in after not, not ${shown(next)}`)
          return { kind: 'not', of: this.#in(first, left) }
        }
        case 'contains':
          return { kind: 'contains', left: this.#wants(first, left, 'any'), right: this.#text() }
        case 'matches':
          return this.#matches(first, left)
        default:
      }
    }
    const message = `expected ==, !=, in, not in, contains or matches, not ${shown(operator)}`
    const meant = nearest(operator.text, WORDS)
    throw this.#refuse(operator, message, INSTEAD[operator.text] ?? (meant && `did you mean ${meant}?`))
  }

  #equal(first: Token, left: Operand): Condition {
    const token = this.#peek()
    const right = this.#wants(token, this.#operand(), 'text')
    const isTrigger = left.kind === 'field' && left.field === 'trigger'
    if (isTrigger && right.kind === 'text') this.#checkTrigger(token, right.text)
    return { kind: 'equal', left: this.#wants(first, left, 'text'), right }
  }

  #in(first: Token, left: Operand): Condition {
    const token = this.#peek()
    const right = this.#wants(token, this.#operand(), 'list')
    const isTrigger = left.kind === 'field' && left.field === 'trigger'
    if (isTrigger && right.kind === 'list') for (const item of right.items) this.#checkTrigger(token, item)
    return { kind: 'in', left: this.#wants(first, left, 'text'), right }
  }

  #matches(first: Token, left: Operand): Condition {
    const token = this.#take()
    if (token.kind !== 'text') throw this.#refuse(token, `expected a pattern in quotes, not ${shown(token)}`)
    const isPath = left.kind === 'field' && (left.field === 'paths' || left.field === 'branch')
    const glob = isPath ? parseGlob(token.text) : parseTextGlob(token.text)
    if (isGlobProblem(glob)) throw this.#refuse(token, glob.message, glob.suggestion)
    return { kind: 'matches', left: this.#wants(first, left, 'any'), glob }
  }

  #text(): Operand {
    const token = this.#peek()
    return this.#wants(token, this.#operand(), 'text')
  }

  #operand(): Operand {
    const token = this.#take()
    if (token.kind === 'text') return { kind: 'text', text: token.text }
    if (token.kind === 'sign' && token.text === '[') return this.#list()
    if (token.kind !== 'word' || WORDS.includes(token.text)) {
      const message = `expected a field such as trigger, or text in quotes, not ${shown(token)}`
      throw this.#refuse(token, message, INSTEAD[token.text])
    }
    const [, input] = /^inputs\.([\w-]+)$/.exec(token.text) ?? []
    if (input !== undefined) return { kind: 'input', name: input, at: token.at }
    if (!FIELDS.includes(token.text as Field)) {
      const meant = nearest(token.text, FIELDS)
      const suggestion = meant ? `did you mean ${meant}?` : `if it is text, put it in quotes: "${token.text}"`
      const message = `there is no ${token.text} to ask about; there are ${FIELDS.join(', ')} and inputs.NAME`
      throw this.#refuse(token, message, suggestion)
    }
    return { kind: 'field', field: token.text as Field }
  }

  #list(): Operand {
    const items: string[] = []
    while (!this.#takes(']')) {
      const token = this.#take()
      if (token.kind !== 'text') throw this.#refuse(token, `expected text in quotes, not ${shown(token)}`)
      items.push(token.text)
      if (!this.#takes(',') && this.#peek().text !== ']')
        throw this.#refuse(this.#peek(), `expected a comma or ], not ${shown(this.#peek())}`)
    }
    return { kind: 'list', items }
  }

  #wants(token: Token, operand: Operand, wanted: 'text' | 'list' | 'any'): Operand {
    const isList = operand.kind === 'list' || (operand.kind === 'field' && operand.field === 'paths')
    if (wanted === 'any' && operand.kind !== 'list') return operand
    if (wanted !== 'any' && isList === (wanted === 'list')) return operand
    if (wanted === 'list') throw this.#refuse(token, `expected a list such as ["a", "b"], not ${shown(token)}`)
    const suggestion =
      operand.kind === 'list' ? 'turn it around: … in […]' : 'write paths matches "…" or paths contains "…"'
    throw this.#refuse(
      token,
      `expected one text, not ${operand.kind === 'list' ? 'a list' : 'the list of paths'}`,
      suggestion,
    )
  }

  #checkTrigger(token: Token, text: string): void {
    if (TRIGGERS.some((trigger) => trigger === text)) return
    const meant = nearest(text, TRIGGERS)
    const message = `there is no trigger "${text}"; there are ${TRIGGERS.join(', ')}`
    throw this.#refuse(token, message, meant && `write "${meant}"`)
  }

  #takes(text: string): boolean {
    const token = this.#peek()
    if (token.text !== text || token.kind === 'text' || token.kind === 'end') return false
    this.#next += 1
    return true
  }

  #take(): Token {
    const token = this.#peek()
    if (token.kind !== 'end') this.#next += 1
    return token
  }

  #peek(): Token {
    return this.#tokens[this.#next] as Token
  }

  #refuse(token: Token, message: string, suggestion?: string): Refused {
    return new Refused({ at: token.at, length: token.length, message, suggestion })
  }
}

const negateIf = (isNegated: boolean, of: Condition): Condition => (isNegated ? { kind: 'not', of } : of)
const shown = ({ kind, text }: Token) => (kind === 'end' ? text : kind === 'text' ? `the text "${text}"` : `"${text}"`)
