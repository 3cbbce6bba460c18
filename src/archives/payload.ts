// What tasks of archives carry, between those who plan them and those who perform them.
import { z } from 'zod'
import type { Run } from './definition/workflow.ts'

export const archiveTaskKind = 'archive.task'
export const archiveIndexKind = 'archive.index'

export type RevisionRef = { readonly number: number; readonly id: string }

export type Trigger =
  | { readonly type: 'commit' }
  | {
      readonly type: 'manual'
      readonly run: string
      readonly by: string
      readonly inputs: Readonly<Record<string, string>>
    }
  | { readonly type: 'schedule'; readonly run: string; readonly at: string }

/** Payload of `archive.task`: a command or script at a revision. */
export type ArchiveTask = {
  readonly archive: string
  readonly rev: RevisionRef
  /** The revision before it in the archive's order; null at the first. */
  readonly previous: RevisionRef | null
  readonly name: string
  readonly workflow: string
  readonly run: Run
  readonly image: string | null
  readonly env: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly artifacts: readonly string[]
  readonly timeoutSeconds: number
  readonly trigger: Trigger
  /** How many machine commits led to the revision. */
  readonly depth: number
}

/** Payload of `archive.index`: brings the archive's index to a revision. */
export type ArchiveIndex = { readonly archive: string; readonly rev: RevisionRef }

const rev = z.strictObject({ number: z.int().min(0), id: z.string().min(1) })
const texts = z.array(z.string())
const values = z.record(z.string(), z.string())

const run = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('command'), command: texts.min(1) }),
  z.strictObject({ type: z.literal('script'), script: z.string(), shell: texts.min(1) }),
  z.strictObject({ type: z.literal('uses'), uses: z.string() }),
])

const trigger = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('commit') }),
  z.strictObject({ type: z.literal('manual'), run: z.string(), by: z.string(), inputs: values }),
  z.strictObject({ type: z.literal('schedule'), run: z.string(), at: z.string() }),
])

export const archiveTaskSchema: z.ZodType<ArchiveTask, ArchiveTask> = z.strictObject({
  archive: z.string(),
  rev,
  previous: rev.nullable(),
  name: z.string(),
  workflow: z.string(),
  run,
  image: z.string().nullable(),
  env: values,
  secrets: texts,
  artifacts: texts,
  timeoutSeconds: z.number(),
  trigger,
  depth: z.int().min(0),
})

export const archiveIndexSchema: z.ZodType<ArchiveIndex, ArchiveIndex> = z.strictObject({ archive: z.string(), rev })
