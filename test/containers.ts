// Containers for tests: podman with a storage and settings of the test file's own, and an image made of busybox.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

export const IMAGE = 'localhost/millrace-test:1'
const BUSYBOX = '/bin/busybox'

// A machine for tests may be a container itself: no limit can be raised, no init system keeps the control groups, and the
// file system may not take another layer.
const settings = (folder: string) => `
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${folder}/run/libpod"
`
const storage = (folder: string) => `
[storage]
driver = "vfs"
runroot = "${folder}/run"
graphroot = "${folder}/graph"
`

export type Containers = {
  readonly podman: (...args: string[]) => string
  /** What another process needs to see the same containers. */
  readonly environment: () => Record<string, string>
}

/** Sets up podman for the tests of this file, in the environment that they hand down. */
export function useContainers(): Containers {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-containers-'))
  const podman = (...args: string[]) =>
    execFileSync('podman', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const environment = {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  }
  Object.assign(process.env, environment)

  beforeAll(() => {
    writeFileSync(join(folder, 'containers.conf'), settings(folder))
    writeFileSync(join(folder, 'storage.conf'), storage(folder))
    makeImage(folder)
    podman('import', '--quiet', join(folder, 'image.tar'), IMAGE)
  })
  afterAll(() => {
    podman('rm', '--all', '--force', '--time', '0')
    rmSync(folder, { recursive: true, force: true })
  })
  return { podman, environment: () => environment }
}

function makeImage(folder: string): void {
  const root = join(folder, 'image')
  for (const name of ['bin', 'proc', 'dev', 'sys', 'tmp', 'etc', 'root'])
    mkdirSync(join(root, name), { recursive: true })
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: root })
  run('cp', '--dereference', BUSYBOX, 'bin/busybox')
  run(
    'sh',
    '-c',
    `for name in $(bin/busybox --list); do [ $name = busybox ] || ln -s busybox bin/$name; done; ln -s . usr`,
  )
  writeFileSync(join(root, 'etc', 'passwd'), 'root:x:0:0::/root:/bin/sh\n')
  run('tar', '-cf', join(folder, 'image.tar'), '.')
}
