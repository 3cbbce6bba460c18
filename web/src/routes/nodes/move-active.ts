import type { TreeLine } from './node-tree.ts'

export type Move = { readonly to?: number; readonly open?: string; readonly close?: string }

/** What a key of the treegrid pattern does: where the active row is then, and what is opened or closed. */
export function moveActive(key: string, lines: readonly TreeLine[], active: number, page: number): Move | undefined {
  const last = lines.length - 1
  const line = lines[active]
  const to = (index: number): Move => ({ to: Math.max(0, Math.min(last, index)) })
  switch (key) {
    case 'ArrowDown':
      return to(active + 1)
    case 'ArrowUp':
      return to(active - 1)
    case 'Home':
      return to(0)
    case 'End':
      return to(last)
    case 'PageDown':
      return to(active + page)
    case 'PageUp':
      return to(active - page)
    case 'ArrowRight':
      if (line?.is !== 'node' || !line.hasChildren) return {}
      return line.isOpen ? to(active + 1) : { open: line.key }
    case 'ArrowLeft':
      if (line?.is === 'node' && line.isOpen && line.hasChildren) return { close: line.key }
      return toParent(lines, active)
    default:
      return undefined
  }
}

function toParent(lines: readonly TreeLine[], active: number): Move {
  const level = lines[active]?.level ?? 0
  const parent = lines.findLastIndex((other, i) => i < active && other.level < level)
  return parent === -1 ? {} : { to: parent }
}

/** The next row that begins with what was typed: what the node does, or its number. */
export function findByLetters(lines: readonly TreeLine[], active: number, text: string): number {
  const wanted = text.toLowerCase()
  // Who types the first letter again wants the next one; who types on stays where the text still fits.
  const from = text.length === 1 ? active + 1 : active
  for (let i = 0; i < lines.length; i += 1) {
    const index = (from + i) % lines.length
    const line = lines[index]
    if (line?.is !== 'node') continue
    if (line.row.summary.toLowerCase().startsWith(wanted) || line.row.id.startsWith(wanted)) return index
  }
  return active
}
