type Next = (node: string) => readonly string[]

/**
 * One cycle for each group of nodes that reach each other: the shortest through the group's first node, in the order of
 * `nodes`. A node that follows itself is a group, too.
 */
export function findCycles(nodes: readonly string[], next: Next): string[][] {
  const groups = findGroups(nodes, next)
  const seen = new Set<string>()
  return nodes.flatMap((node) => {
    const group = groups.get(node)
    if (group === undefined || seen.has(node)) return []
    for (const member of group) seen.add(member)
    const cycle = shortestCycle(node, (from) => next(from).filter((to) => group.has(to)))
    return cycle ? [cycle] : []
  })
}

type Frame = { readonly node: string; readonly to: readonly string[]; at: number }

/** Tarjan's strongly connected components, without recursion: a chain may be as long as the file is large. */
function findGroups(nodes: readonly string[], next: Next): Map<string, ReadonlySet<string>> {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const path: string[] = []
  const groups = new Map<string, ReadonlySet<string>>()
  const enter = (node: string): Frame => {
    low.set(node, order.size)
    order.set(node, order.size)
    path.push(node)
    return { node, to: next(node), at: 0 }
  }
  const lower = (node: string, value: number | undefined) => low.set(node, Math.min(low.get(node) ?? 0, value ?? 0))
  const leave = (node: string, above: Frame | undefined) => {
    if (above) lower(above.node, low.get(node))
    if (low.get(node) !== order.get(node)) return
    const group = new Set(path.splice(path.lastIndexOf(node)))
    for (const member of group) groups.set(member, group)
  }
  for (const start of nodes) {
    const stack = order.has(start) ? [] : [enter(start)]
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      const to = frame.to[frame.at]
      frame.at += 1
      if (to === undefined) {
        stack.pop()
        leave(frame.node, stack.at(-1))
      } else if (!order.has(to)) stack.push(enter(to))
      else if (!groups.has(to)) lower(frame.node, order.get(to))
    }
  }
  return groups
}

function shortestCycle(start: string, next: Next): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const open = [start]
  for (const node of open) {
    for (const to of next(node)) {
      if (to === start) return trace(node, start, cameFrom)
      if (cameFrom.has(to)) continue
      cameFrom.set(to, node)
      open.push(to)
    }
  }
  return undefined
}

function trace(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end]
  for (let node = end; node !== start; path.unshift(node)) node = cameFrom.get(node) as string
  return path
}
