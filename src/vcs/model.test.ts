// Random commits, by a person with a plain checkout and in both ways of our own, compared with a model of the tree: a map
// from paths to texts for each revision.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inForm } from '../../test/long-form.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import type { Ground, Plain } from '../../test/repositories/ground.ts'
import { opened, put, text } from '../../test/repositories/kit.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { type Change, collect, type FileChange, type Repository, type Revision } from './index.ts'

type Tree = ReadonlyMap<string, string>
type Step = { readonly path: string; readonly content: string | undefined }

const name = fc.constantFrom('a', 'b@1', 'c d', 'ü', '-e', '%20')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const step: fc.Arbitrary<Step> = fc.record({ path, content: fc.option(fc.string(), { nil: undefined, freq: 3 }) })
const way = fc.constantFrom('by hand', 'in a workspace', 'as changes')
const commit = fc.record({ way, steps: fc.array(step, { minLength: 1, maxLength: 6 }) })
const commits = fc.array(commit, { minLength: 1, maxLength: 5 })
type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never

const isBelow = (path: string, folder: string) => path.startsWith(`${folder}/`)

/** What the step makes of the tree. A file that is put takes the place of a folder, and of a file above it. */
function apply(tree: Tree, { path, content }: Step): Tree {
  const rest = [...tree].filter(([other]) => other !== path && !isBelow(other, path))
  if (content === undefined) return new Map(rest)
  return new Map([...rest.filter(([other]) => !isBelow(path, other)), [path, content]])
}

async function perform(folder: string, before: Tree, steps: readonly Step[]): Promise<Tree> {
  let tree = before
  for (const step of steps) {
    const next = apply(tree, step)
    for (const path of tree.keys()) if (!next.has(path)) await rm(join(folder, path))
    if (step.content !== undefined) {
      // The folder that gives way to a file is empty by now.
      await rm(join(folder, step.path), { recursive: true, force: true })
      await mkdir(dirname(join(folder, step.path)), { recursive: true })
      await writeFile(join(folder, step.path), step.content)
    }
    tree = next
  }
  return tree
}

const isEqual = (a: Tree, b: Tree) => a.size === b.size && [...a].every(([path, content]) => b.get(path) === content)

/** Makes the commits and answers the tree of each revision, beginning with none. */
async function play(plain: Plain, repository: Repository, list: readonly Commit[]): Promise<Tree[]> {
  const trees: Tree[] = [new Map()]
  for (const { way, steps } of list) {
    const before = trees.at(-1) ?? new Map<string, string>()
    const after = steps.reduce(apply, before)
    // Neither program commits when nothing is different.
    if (isEqual(before, after)) continue
    const described = { message: `r${trees.length}`, marker: `m${trees.length}` }
    if (way === 'by hand') await plain.commit((folder) => perform(folder, before, steps), described.message)
    if (way === 'in a workspace') {
      await using workspace = await repository.workspace({ revision: await repository.youngest() })
      await perform(workspace.path, before, steps)
      await repository.commit(workspace, described)
    }
    if (way === 'as changes') {
      const changes = await changesBetween(repository, before, after)
      await repository.commitChanges({ ...described, changes })
    }
    trees.push(after)
  }
  return trees
}

async function changesBetween(repository: Repository, old: Tree, young: Tree): Promise<FileChange[]> {
  const gone = [...old.keys()].filter((path) => !young.has(path))
  const changed = [...young].filter(([path, content]) => old.get(path) !== content)
  const entries = await collect(repository.list('', await repository.youngest(), { recursive: true }))
  // Subversion also has folders that are empty, of which the model knows nothing.
  const folders = new Set(entries.filter(({ kind }) => kind === 'folder').map(({ path }) => path))
  return [
    ...changed.map(([path, content]) => put(path, content)),
    // A file that becomes a folder must go; a folder that becomes a file must go as a whole.
    ...gone.filter((path) => !changed.some(([other]) => isBelow(path, other))).map(remove),
    ...changed
      .map(([path]) => path)
      .filter((path) => folders.has(path))
      .map(remove),
  ]
}

const remove = (path: string) => ({ type: 'delete', path }) as const

async function compare(repository: Repository, trees: readonly Tree[]): Promise<void> {
  const log = await collect(repository.log())
  const subjects = log.map(({ number, message }) => [number, message.split('\n')[0]])
  expect(subjects).toEqual(trees.slice(1).map((_, i) => [i + 1, `r${i + 1}`]))
  const treeOf = (number: number) => trees[number] ?? new Map<string, string>()
  let before: Revision = await repository.revision(0)
  for (const entry of log) {
    const [old, tree] = [treeOf(entry.number - 1), treeOf(entry.number)]
    const files = (await collect(repository.list('', entry, { recursive: true }))).filter(({ kind }) => kind === 'file')
    expect(files.map(({ path }) => path).sort()).toEqual([...tree.keys()].sort())
    for (const { path, size } of files) {
      expect(size).toBe(Buffer.byteLength(tree.get(path) ?? ''))
    }
    const [some] = tree.keys()
    if (some !== undefined) expect(await text(repository, some, entry)).toBe(tree.get(some))
    const changed = (await collect(repository.diff(before, entry))).filter(({ kind }) => kind === 'file')
    expect(describe(changed)).toEqual(difference(old, tree))
    expect(replay(old, entry.changes)).toEqual(new Set(tree.keys()))
    before = entry
  }
}

const describe = (changes: readonly Change[]) => changes.map(({ action, path }) => `${action} ${path}`).sort()

function difference(old: Tree, young: Tree): string[] {
  const added = [...young.keys()].filter((path) => !old.has(path)).map((path) => `A ${path}`)
  const gone = [...old.keys()].filter((path) => !young.has(path)).map((path) => `D ${path}`)
  const changed = [...young].filter(([path, content]) => old.has(path) && old.get(path) !== content)
  return [...added, ...gone, ...changed.map(([path]) => `M ${path}`)].sort()
}

/** The paths that the log leads to: what it calls deleted or replaced takes with it all below. */
function replay(old: Tree, changes: readonly Change[]): Set<string> {
  const paths = new Set(old.keys())
  for (const { path, action } of changes) {
    if (action !== 'D' && action !== 'R') continue
    for (const other of paths) if (other === path || isBelow(other, path)) paths.delete(other)
  }
  for (const { path, action, kind } of changes) if (action !== 'D' && kind === 'file') paths.add(path)
  return paths
}

test.each([
  ['svn', svnFiles],
  ['git', gitFiles],
] as const)(
  'whatever is committed to %s is read as it was',
  async (_, open: () => Promise<Ground>) => {
    await using ground = await open()
    const property = fc.asyncProperty(commits, async (list) => {
      const plain = await ground.create()
      const repository = await opened(plain)
      await compare(repository, await play(plain, repository, list))
    })
    await fc.assert(property, { numRuns: inForm(4, 40), endOnFailure: true })
  },
  600_000,
)
