import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckedCommand } from './command.ts'
import type { ContainerEngine, Inspected } from './container-engine.ts'
import { type CommandLimits, type ContainerSpec, InvalidCommand } from './runner.ts'

export const MARKER_LABEL = 'millrace.marker'
export const RUNNER_LABEL = 'millrace.runner'

export type Launch = {
  readonly engine: ContainerEngine
  readonly command: CheckedCommand
  readonly container: ContainerSpec
  readonly runnerId: string
}

/** One container per marker: a second one of the same attempt is refused by the engine. */
export const containerName = (marker: string): string => `millrace-${marker.replaceAll(/[^\w.-]/g, '_')}`

/** The name of a container that another server took up: labels stay as they were made, so the name says whose it is. */
export const adoptedName = (marker: string, runnerId: string): string => `${containerName(marker)}--${runnerId}`

/** The runner that watches the container, or did until its server died. */
export const ownerOf = ({ name, labels }: Inspected): string =>
  /--(\d+\.\d+\.\d+\.\d+)$/.exec(name)?.[1] ?? labels[RUNNER_LABEL] ?? ''

/** The words of `run`, without the environment. Throws `InvalidCommand` for what no engine could be told. */
export function runArguments({ engine, command, container, runnerId }: Launch): string[] {
  const { marker, limits, argv } = command
  const odd = longEntries(command.env).find(([name]) => !/^[A-Za-z_]\w*$/.test(name) || name === 'PATH')
  if (odd !== undefined) throw new InvalidCommand(`env.${odd[0]} has several lines, which a container cannot be given`)
  const [, task, attempt] = /(\d+)\.(\d+)$/.exec(marker) ?? []
  const memory = container.memoryBytes ?? limits.memoryBytes
  const pids = container.pids ?? limits.processes
  const option = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)]
  return [
    'run',
    '--detach',
    '--init',
    ...option('--name', containerName(marker)),
    ...option('--label', `${MARKER_LABEL}=${marker}`),
    ...option('--label', `${RUNNER_LABEL}=${runnerId}`),
    ...option('--label', task === undefined ? undefined : `millrace.task=${task}`),
    ...option('--label', attempt === undefined ? undefined : `millrace.attempt=${attempt}`),
    ...option('--network', container.network ?? 'none'),
    ...option('--memory', memory),
    ...option('--cpus', container.cpus),
    ...option('--pids-limit', pids),
    ...option('--user', container.user),
    ...option('--workdir', container.workdir),
    ...(engine.isPodman ? ['--umask', command.umask.toString(8).padStart(4, '0')] : []),
    // Bytes as they are, all of them: docker's usual form replaces what is no text, this one would drop the oldest.
    ...(engine.isPodman
      ? ['--log-driver', 'k8s-file']
      : [
          '--log-driver',
          'local',
          '--log-opt',
          'max-size=1000g',
          '--log-opt',
          'max-file=1',
          '--log-opt',
          'compress=false',
        ]),
    ...ulimits(limits),
    ...(container.mounts ?? []).flatMap(({ source, target, isReadOnly }) => {
      if (/[,"\n]/.test(source + target)) throw new InvalidCommand(`a mount cannot have a comma or quote: ${source}`)
      return ['--mount', `type=bind,source=${source},target=${target}${isReadOnly ? ',readonly' : ''}`]
    }),
    // A first word in `argv` that is an entrypoint of the image's would change its meaning.
    ...option('--entrypoint', entrypoint(engine, argv)),
    container.image,
    ...argv.slice(1),
  ]
}

const entrypoint = (engine: ContainerEngine, argv: readonly string[]) =>
  engine.isPodman ? JSON.stringify([argv[0]]) : argv[0]

function ulimits({ cpuSeconds, openFiles, fileSizeBytes }: CommandLimits): string[] {
  const limits = { cpu: cpuSeconds, nofile: openFiles, fsize: fileSizeBytes }
  return Object.entries(limits).flatMap(([name, value]) =>
    value === undefined ? [] : ['--ulimit', `${name}=${value}:${value}`],
  )
}

const longEntries = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).filter(([, value]) => value.includes('\n'))

export type Environment = {
  readonly folder: string
  readonly options: readonly string[]
  /** To be sourced before the command line is run; undefined when that is not needed. */
  readonly script: string | undefined
}

/**
 * Writes the variables into a folder that only this user may read, so that none shows in the list of processes; the
 * caller removes it. A value of several lines does not fit the engines' form: it is exported by a shell to the command
 * line, which takes it from there by name.
 */
export async function writeEnvironment(env: Readonly<Record<string, string>>, runnerId: string): Promise<Environment> {
  const long = longEntries(env)
  const short = Object.entries(env).filter(([, value]) => !value.includes('\n'))
  const folder = await mkdtemp(join(tmpdir(), `millrace-${runnerId}-`)) // removed after a server that died, too
  const [file, script] = [join(folder, 'variables'), join(folder, 'export')]
  await writeFile(file, short.map(([name, value]) => `${name}=${value}\n`).join(''), { mode: 0o600 })
  await writeFile(
    script,
    long.map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`).join(''),
    { mode: 0o600 },
  )
  return {
    folder,
    options: ['--env-file', file, ...long.flatMap(([name]) => ['--env', name])],
    script: long.length > 0 ? script : undefined,
  }
}
