import { ANY_DEPTH, type Atom, type Glob, type Segment } from './glob.ts'

/**
 * Whether a changed path concerns the pattern. A folder, which ends with a slash, does so when anything below it could:
 * a repository reports the removal of a folder by the folder's path alone.
 */
export function matchPath(glob: Glob, path: string): boolean {
  const isFolder = path.endsWith('/')
  const parts = (isFolder ? path.slice(0, -1) : path).split('/')
  return glob.alternatives.some((segments) => {
    const states = walk(segments, parts)
    return states.has(segments.length) || (isFolder && states.size > 0)
  })
}

/** Whether the path, and everything below it when it is a folder, is matched by the pattern. */
export function coverPath(glob: Glob, path: string): boolean {
  if (!path.endsWith('/')) return matchPath(glob, path)
  const parts = path.slice(0, -1).split('/')
  return glob.alternatives.some((segments) => [...walk(segments, parts)].some((at) => isEverything(segments.slice(at))))
}

/** Whether a text that is no path fits the pattern. */
export function matchText(glob: Glob, text: string): boolean {
  return glob.alternatives.some(([segment]) => segment !== undefined && matchSegment(segment, Array.from(text)))
}

/** The places of the pattern that can be reached by walking through all parts of a path. */
function walk(segments: readonly Segment[], parts: readonly string[]): ReadonlySet<number> {
  let states = skipDepths(segments, [0])
  for (const part of parts) {
    const letters = Array.from(part)
    const next: number[] = []
    for (const at of states) {
      const segment = segments[at]
      if (segment === ANY_DEPTH) next.push(at)
      else if (segment !== undefined && matchSegment(segment, letters)) next.push(at + 1)
    }
    states = skipDepths(segments, next)
  }
  return states
}

/** `**` may stand for no folder at all. */
function skipDepths(segments: readonly Segment[], reached: readonly number[]): ReadonlySet<number> {
  const states = new Set<number>()
  for (const start of reached) {
    let at = start
    while (segments[at] === ANY_DEPTH) {
      states.add(at)
      at += 1
    }
    states.add(at)
  }
  return states
}

/** Whether what is left of a pattern fits every path of at least one part. */
function isEverything(rest: readonly Segment[]): boolean {
  const others = rest.filter((segment) => segment !== ANY_DEPTH)
  const isAny = ([first]: readonly Segment[]) => first?.length === 1 && (first[0] as Atom).kind === 'any'
  return rest.length > others.length && (others.length === 0 || (others.length === 1 && isAny(others)))
}

function matchSegment(segment: Segment, letters: readonly string[]): boolean {
  let [at, place] = [0, 0]
  // Where to go on when a letter does not fit: the last `*` takes one letter more.
  let [starAt, starPlace] = [-1, 0]
  while (place < letters.length) {
    const atom = segment[at] as Atom | undefined
    if (atom?.kind === 'any') {
      ;[starAt, starPlace] = [at, place]
      at += 1
    } else if (atom !== undefined && fits(atom, letters[place] as string)) {
      at += 1
      place += 1
    } else if (starAt >= 0) {
      starPlace += 1
      ;[at, place] = [starAt + 1, starPlace]
    } else return false
  }
  while ((segment[at] as Atom | undefined)?.kind === 'any') at += 1
  return at === segment.length
}

function fits(atom: Atom, letter: string): boolean {
  switch (atom.kind) {
    case 'letter':
      return atom.letter === letter
    case 'set':
      return atom.ranges.some(([from, to]) => from <= letter && letter <= to) !== atom.isNegated
    case 'one':
    case 'any':
      return true
    default:
      return atom satisfies never
  }
}
