import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { basicEnvironment, type CommandSpec, type Mount, toTimeoutMs } from '../runners/index.ts'
import type { CommitDoor } from './commit-door.ts'
import { inputVariable } from './definition/names.ts'
import type { Run } from './definition/workflow.ts'
import type { ArchiveTask } from './payload.ts'
import type { Room } from './task-room.ts'

// Inside a container.
const WORKSPACE = '/workspace'
const HANDED = '/millrace'
const DOOR = '/run/millrace'

export type CommandFacts = {
  readonly work: ArchiveTask
  readonly task: string
  readonly room: Room
  /** Undefined: there is no repository to commit to. */
  readonly door: CommitDoor | undefined
  readonly image: string | null
  readonly changed: readonly string[]
  readonly secrets: Readonly<Record<string, string>>
  readonly token: string
  readonly url: string
  readonly marker: string
  readonly graceMs: number
  /** How this program is started, for commands that use it. */
  readonly program?: readonly string[] | undefined
}

/** The folder of the room in which a task finds what others left for it. */
export const artifactsOf = (room: Room) => join(room.folder, 'artifacts')

/** Writes what the command is handed, and says how it is run. */
export async function prepareCommand(facts: CommandFacts): Promise<CommandSpec> {
  const { work, room, image, marker, graceMs } = facts
  await writeFile(join(room.folder, 'changed-paths'), writeLines(facts.changed))
  if (work.run.type === 'script') await writeFile(join(room.folder, 'script'), work.run.script)
  const handed = image === null ? room.folder : HANDED
  const env = environmentOf(facts, handed)
  const argv = argvOf(work.run, `${handed}/script`)
  const common = { argv, marker, graceMs, ...toTimeoutMs(work.timeoutSeconds) }
  if (image === null) {
    const path = await linkProgram(facts)
    return {
      ...common,
      env: { ...basicEnvironment(), ...path, TMPDIR: join(room.folder, 'tmp'), ...env },
      cwd: room.path,
    }
  }
  const container = { image, mounts: mountsOf(facts), workdir: WORKSPACE, network: 'host' } as const
  return { ...common, env, container }
}

function argvOf(run: Run, script: string): readonly [string, ...string[]] {
  const words = run.type === 'command' ? run.command : run.type === 'script' ? [...run.shell, script] : [run.uses]
  return words as readonly [string, ...string[]]
}

function environmentOf({ work, task, door, image, secrets, token, url }: CommandFacts, handed: string) {
  const { trigger } = work
  const inputs = trigger.type === 'manual' ? Object.entries(trigger.inputs) : []
  return {
    ...work.env,
    ...secrets,
    ...Object.fromEntries(inputs.map(([name, value]) => [inputVariable(name), value])),
    MILLRACE_ARCHIVE: work.archive,
    MILLRACE_REVISION: String(work.rev.number),
    MILLRACE_REVISION_ID: work.rev.id,
    MILLRACE_PREVIOUS_REVISION: work.previous === null ? '' : String(work.previous.number),
    MILLRACE_TASK: work.name,
    MILLRACE_TASK_ID: task,
    MILLRACE_TRIGGER: trigger.type,
    MILLRACE_CHANGED_PATHS: `${handed}/changed-paths`,
    MILLRACE_ARTIFACTS: `${handed}/artifacts`,
    MILLRACE_URL: url,
    MILLRACE_TOKEN: token,
    ...(door === undefined ? {} : { MILLRACE_COMMIT_SOCKET: image === null ? door.socket : `${DOOR}/commit` }),
  }
}

/** `millrace` is found by commands on the host even where it is not installed for everybody. */
async function linkProgram({ program, room }: CommandFacts): Promise<{ PATH?: string }> {
  if (program === undefined) return {}
  const quoted = program.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  await writeFile(join(room.folder, 'millrace'), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 })
  return { PATH: `${basicEnvironment().PATH}:${room.folder}` }
}

function mountsOf({ room, door }: CommandFacts): Mount[] {
  return [
    { source: room.path, target: WORKSPACE },
    { source: room.folder, target: HANDED, isReadOnly: true },
    ...(door === undefined ? [] : [{ source: door.folder, target: DOOR }]),
    ...(room.workspace?.needs ?? []).map((folder) => ({ source: folder, target: folder, isReadOnly: true })),
  ]
}

/** As the command reads them: one in a line. A path that itself holds a line feed is written as JSON does. */
export function writeLines(paths: readonly string[]): string {
  return paths.map((path) => `${path.includes('\n') ? JSON.stringify(path) : path}\n`).join('')
}
