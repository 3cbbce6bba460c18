// What stands in a hook file. It is read and written byte by byte (as latin1): what others wrote there stays as it is,
// in whatever encoding.
import type { Kind } from './repository.ts'

const BEGIN = '# >>> millrace >>>'
const END = '# <<< millrace <<<'
const SHELLS = /^#!\s*(?:\S*\/)?(?:env\s+(?:-\S+\s+)*)?(?:sh|bash|dash|ash|ksh|mksh|zsh|busybox sh)(?:\s|$)/
export const WRAPPED = '.before-millrace'

const CALLS = {
  svn: `(for notify in "\${1-}"/millrace/*/notify; do
  [ -f "$notify" ] && /bin/sh "$notify" svn "\${2-}" "\${3-}"
done) </dev/null >/dev/null 2>&1 || :`,
  git: `(for notify in "\${0%/*}"/../millrace/*/notify; do
  [ -f "$notify" ] && /bin/sh "$notify" git
done) </dev/null >/dev/null 2>&1 || :`,
} as const satisfies Record<Kind, string>

/**
 * What is added to a hook file. It stands before everything else, for many hooks end with `exit` or `exec`; it leaves
 * standard input to them, and cannot fail under `set -eu`. The folder is found from where the hook is, so that a
 * repository that is moved goes on; whether it is a copy, `notify` sees.
 */
export function blockFor(kind: Kind): string {
  return `${BEGIN} tells Millrace of what came; keep these lines together, or see millrace hook uninstall
${CALLS[kind]}
${END}
`
}

/** The block that the file has. */
export function findBlock(text: string): string | undefined {
  return new RegExp(`^${BEGIN}.*\\n(?:.*\\n)*?${END}\\n?`, 'm').exec(text)?.[0]
}

/**
 * The file with the block in it, in place of an older one; undefined where another interpreter than a shell reads the
 * file, so that the block cannot stand there.
 */
export function withBlock(text: string, block: string): string | undefined {
  const old = findBlock(text)
  if (old !== undefined) return text.replace(old, () => block)
  if (text.trim() === '') return `#!/bin/sh\n${block}`
  if (!SHELLS.test(text)) return undefined
  const end = text.indexOf('\n')
  return end < 0 ? `${text}\n${block}` : text.slice(0, end + 1) + block + text.slice(end + 1)
}

/** The file without the block; undefined when nothing else was in it. */
export function withoutBlock(text: string): string | undefined {
  const block = findBlock(text)
  const rest = block === undefined ? text : text.replace(block, () => '')
  return rest.replace(/^#!.*\n?/, '').trim() === '' ? undefined : rest
}

/** A hook that announces and then becomes the one that was there, which keeps its arguments and its input. */
export const wrapperFor = (block: string) => `#!/bin/sh\n${block}exec "$0${WRAPPED}" "$@"\n`

export const isWrapper = (text: string) =>
  text.endsWith(`\nexec "$0${WRAPPED}" "$@"\n`) && findBlock(text) !== undefined
