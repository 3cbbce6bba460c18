export type Twig = { readonly label: string; readonly below: readonly Twig[] }

/** Lines of a tree, drawn with its branches. */
export function tree(twigs: readonly Twig[], indent = ''): string[] {
  return twigs.flatMap(({ label, below }, at) => {
    const isLast = at === twigs.length - 1
    return [`${indent}${isLast ? '└─ ' : '├─ '}${label}`, ...tree(below, `${indent}${isLast ? '   ' : '│  '}`)]
  })
}
