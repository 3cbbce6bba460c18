// What a workspace looked like when its task got it. By it the server knows what a task has changed, without asking a
// program that would read what the task wrote.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Found, isAdministration, type TreeOptions, walkTree } from './walk-tree.ts'

export type TreeMemory = Map<string, Found>

/** The times of files have the steps of the system's clock: a write within one step leaves no trace in them. */
const STEP_MS = 20

const filledOf = (slot: string) => join(slot, 'filled.json')
const committedOf = (slot: string) => join(slot, 'committed.json')

/** Looks at a tree that was just filled, and keeps what is there, beside it in the slot. */
export async function rememberTree(slot: string, tree: string, options: TreeOptions = {}): Promise<void> {
  await rm(committedOf(slot), { force: true })
  await sleep(STEP_MS)
  const { found } = await walkTree(tree, { ...options, isWhole: true })
  await write(filledOf(slot), found)
}

/** Keeps what the tree looked like when it was committed. */
export const rememberCommit = (slot: string, memory: TreeMemory): Promise<void> => write(committedOf(slot), memory)

/** What the tree looked like when it was last committed, or filled. */
export const lastMemory = async (slot: string): Promise<TreeMemory> =>
  (await read(committedOf(slot)).catch(() => undefined)) ?? (await read(filledOf(slot)))

type Entry = readonly [path: string, kind: Found['kind'], stamp: string]

async function write(file: string, found: ReadonlyMap<string, Found>): Promise<void> {
  const entries = [...found].map(([path, { kind, stamp }]): Entry => [path, kind, stamp])
  await writeFile(file, JSON.stringify(entries), { mode: 0o600 })
}

async function read(file: string): Promise<TreeMemory> {
  const entries = JSON.parse(await readFile(file, 'utf8')) as Entry[]
  return new Map(entries.map(([path, kind, stamp]) => [path, { kind, stamp }]))
}

/** Whether nothing in the tree differs from how it was filled. */
export const isAsFilled = async (slot: string, tree: string): Promise<boolean> =>
  isAs(await read(filledOf(slot)), tree, {})

/** Whether nothing in the tree differs from how it was filled or, where that came later, committed. */
export const isAsLeft = async (slot: string, tree: string, options: TreeOptions): Promise<boolean> =>
  isAs(await lastMemory(slot), tree, options)

async function isAs(memory: TreeMemory, tree: string, options: TreeOptions): Promise<boolean> {
  const { found } = await walkTree(tree, { ...options, isWhole: true })
  return found.size === memory.size && [...found].every(([path, one]) => isSame(one, memory.get(path)))
}

export const isSame = (one: Found, other: Found | undefined) => one.kind === other?.kind && one.stamp === other.stamp

export type TreeChange = {
  readonly path: string
  /** What was there when the task got the workspace, and what is there now. */
  readonly before: Found | undefined
  readonly after: Found | undefined
}

/** What is not as remembered, in no order. `found` is of the same part of the tree. */
export function changesOf(
  memory: ReadonlyMap<string, Found>,
  found: ReadonlyMap<string, Found>,
  { base = '' }: Pick<TreeOptions, 'base'> = {},
): TreeChange[] {
  const changes: TreeChange[] = []
  for (const [path, after] of found) {
    const before = memory.get(path)
    if (!isSame(after, before)) changes.push({ path, before, after })
  }
  for (const [path, before] of memory) {
    const isInside = base === '' || path === base || path.startsWith(`${base}/`)
    if (isInside && !found.has(path)) changes.push({ path, before, after: undefined })
  }
  return changes
}

/** What a task has changed, and the administrations that came with it. */
export async function readChanges(slot: string, tree: string, options: TreeOptions) {
  const memory = await lastMemory(slot)
  const { found, administrations } = await walkTree(tree, options)
  const changes = changesOf(memory, found, options).filter(
    ({ path, before, after }) => !isInAdministration(path) && (before?.kind !== 'folder' || after?.kind !== 'folder'),
  )
  return { memory, found, changes, administrations: administrations.filter((path) => !memory.has(path)) }
}

const isInAdministration = (path: string) => path.split('/').some(isAdministration)
