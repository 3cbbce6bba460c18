// Random histories: legal changes of a tree, and how a person would commit them.
import { chmod, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Plain, say } from './ground.ts'
import { write } from './kit.ts'

/** The same numbers for the same seed. */
export function dice(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    below: (n: number) => Math.floor(next() * n),
    of: <T>(all: readonly T[]) => all[Math.floor(next() * all.length)] as T,
  }
}
export type Dice = ReturnType<typeof dice>

type Leaf = { readonly text: string; readonly form: 'plain' | 'program' | 'link' }
/** Files and folders by path. */
type Tree = Map<string, Leaf | 'folder'>

type Action =
  | { readonly type: 'put'; readonly path: string; readonly leaf: Leaf }
  | { readonly type: 'remove'; readonly path: string }
  | { readonly type: 'copy'; readonly from: string; readonly number: number; readonly to: string }

const NAMES = ['a', 'b', 'a b', 'a@1', 'ä%', 'a-', 'a0', 'c']
const somePath = (roll: Dice) => Array.from({ length: 1 + roll.below(3) }, () => roll.of(NAMES)).join('/')
const isWithin = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`)
const above = (path: string) => (dirname(path) === '.' ? '' : dirname(path))

/** Commits random changes: files come, go and change, folders are deleted, copied from any revision and replaced. */
export async function commitRandomly(plain: Plain, roll: Dice, count: number): Promise<void> {
  const history: Tree[] = [new Map()]
  for (let number = 1; number <= count; number += 1) {
    const tree: Tree = new Map(history.at(-1))
    const actions = [put(tree, 'always', { text: `${number}`, form: 'plain' })]
    for (let i = roll.below(4); i >= 0; i -= 1) actions.push(...change(tree, history, roll))
    const isSvn = plain.options.type === 'svn'
    const isDone = isSvn ? await commitSvn(plain, actions.flat(), number) : await commitGit(plain, tree, number)
    if (isDone) history.push(tree)
    else number -= 1
  }
}

function put(tree: Tree, path: string, leaf: Leaf): Action[] {
  const folders: string[] = []
  for (let up = above(path); up !== ''; up = above(up)) folders.push(up)
  const isFree = folders.every((up) => (tree.get(up) ?? 'folder') === 'folder') && tree.get(path) !== 'folder'
  if (!isFree) return []
  for (const up of folders) tree.set(up, 'folder')
  tree.set(path, leaf)
  return [{ type: 'put', path, leaf }]
}

function remove(tree: Tree, path: string): Action[] {
  if (!tree.has(path)) return []
  for (const each of tree.keys()) if (isWithin(path, each)) tree.delete(each)
  return [{ type: 'remove', path }]
}

function copy(tree: Tree, history: readonly Tree[], roll: Dice): Action[] {
  const number = roll.below(3) === 0 ? roll.below(history.length) : history.length - 1
  const source = history[number] as Tree
  const folders = [...tree.keys()].filter((path) => tree.get(path) === 'folder')
  const [from, into] = [roll.of([...source.keys()]), roll.of(['', '', ...folders])]
  const to = into === '' ? `copy ${roll.below(4)}` : `${into}/copy`
  if (from === undefined || from === 'always' || !tree.has(from) || isWithin(from, to)) return []
  const removed = remove(tree, to)
  for (const [path, leaf] of source) if (isWithin(from, path)) tree.set(to + path.slice(from.length), leaf)
  return [...removed, { type: 'copy', from, number, to }]
}

function change(tree: Tree, history: readonly Tree[], roll: Dice): Action[][] {
  const files = [...tree.keys()].filter((path) => tree.get(path) !== 'folder' && path !== 'always')
  const text = `text ${roll.below(4)}\n`
  const form = roll.of(['plain', 'plain', 'program', 'link'] as const)
  const path = somePath(roll)
  const kind = roll.below(8)
  if (kind <= 2) return [put(tree, path, { text, form: 'plain' })]
  if (kind === 3 && files.length > 0) return [put(tree, roll.of(files), { text, form })]
  if (kind === 4 && files.length > 0) return [remove(tree, roll.of(files))]
  if (kind === 5 && files.length > 0) return [remove(tree, roll.of(files).split('/')[0] as string)]
  if (kind === 6) {
    // A file where a folder was, or the other way round.
    const top = path.split('/')[0] as string
    return [remove(tree, top), put(tree, roll.of([top, `${top}/below`]), { text, form: 'plain' })]
  }
  return [copy(tree, history, roll)]
}

async function commitSvn({ options: { url }, path }: Plain, actions: readonly Action[], number: number) {
  const at = (inside: string) => `${url}/${inside.split('/').map(encodeURIComponent).join('/')}`
  const args: string[] = []
  const made = new Set<string>()
  for (const [i, action] of actions.entries()) {
    if (action.type === 'remove') args.push('rm', at(action.path))
    if (action.type === 'copy') args.push('cp', String(action.number), at(action.from), at(action.to))
    if (action.type !== 'put') continue
    const file = join(`${path}.files`, `${number}-${i}`)
    await write(file, action.leaf.form === 'link' ? 'link target' : action.leaf.text)
    for (const folder of await missingFolders(url, action.path, made)) args.push('mkdir', at(folder))
    args.push('put', file, at(action.path))
    if (action.leaf.form === 'program') args.push('propset', 'svn:executable', '*', at(action.path))
    if (action.leaf.form === 'link') args.push('propset', 'some:property', `${number}`, at(action.path))
  }
  // The program refuses some combinations within one revision; then others are tried.
  return say('svnmucc', ['-m', `revision ${number}`, ...args]).then(
    () => true,
    () => false,
  )
}

async function missingFolders(url: string, path: string, made: Set<string>): Promise<string[]> {
  const missing: string[] = []
  for (let up = above(path); up !== '' && !made.has(up); up = above(up)) {
    const encoded = `${url}/${up.split('/').map(encodeURIComponent).join('/')}@`
    const isThere = await say('svn', ['info', encoded]).catch(() => undefined)
    if (isThere !== undefined) break
    missing.unshift(up)
    made.add(up)
  }
  return missing
}

async function commitGit(plain: Plain, tree: Tree, number: number): Promise<boolean> {
  await plain.commit(async (folder) => {
    for (const name of await readdir(folder)) {
      if (name !== '.git') await rm(join(folder, name), { recursive: true, force: true })
    }
    for (const [path, leaf] of tree) {
      const place = join(folder, path)
      if (leaf === 'folder') continue
      await mkdir(dirname(place), { recursive: true })
      if (leaf.form === 'link') await symlink(leaf.text.trim(), place)
      else await write(place, leaf.text)
      if (leaf.form === 'program') await chmod(place, 0o755)
    }
  }, `revision ${number}`)
  return true
}
