// Tasks that want the server to run something for them, by what they leave where git or Subversion keeps its own files.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Archive, type ArchiveTasks, expectSuccess, TOKEN, useArchiveTasks } from '../../test/archive-tasks.ts'
import { IMAGE, useContainers } from '../../test/containers.ts'
import { waitFor } from '../../test/processes.ts'
import { gitFiles } from '../../test/repositories/git.ts'
import { say } from '../../test/repositories/ground.ts'
import { write } from '../../test/repositories/kit.ts'
import { svnFiles } from '../../test/repositories/svn.ts'
import { plantWork } from '../../test/repositories/traps.ts'
import { scratch } from '../../test/scratch.ts'
import { createContainerRunner } from '../runners/index.ts'

const containers = useContainers()
const containerRunner = createContainerRunner()
const inGit = useArchiveTasks(gitFiles, () => ({ containerRunner }))
const inSvn = useArchiveTasks(svnFiles, () => ({ containerRunner }))

const WAIT = 'echo "ready at $MILLRACE_COMMIT_SOCKET in $(pwd)"; while [ ! -e go ]; do sleep 0.05; done'

/** Where the task waits, as the host knows it: its workspace and the socket of its commits. */
async function placesOf(tasks: ArchiveTasks, id: string, image: string | null) {
  const [, socket = '', workspace = ''] = await waitFor(async () => {
    const log = await tasks.log(id)
    if ((await tasks.engine.millrace.task(id)).state === 'failed') throw new Error(log)
    return /ready at (\S+) in (.+)/.exec(log) ?? undefined
  })
  if (image === null) return { socket, workspace }
  const [container = ''] = containers.podman('ps', '--quiet').trim().split('\n')
  const [{ Mounts }] = JSON.parse(containers.podman('inspect', container)) as [
    { Mounts: { Source: string; Destination: string }[] },
  ]
  const sourceOf = (destination: string) => Mounts.find((mount) => mount.Destination === destination)?.Source ?? ''
  return { socket: join(sourceOf('/run/millrace'), 'commit'), workspace: sourceOf('/workspace') }
}

/** The token goes by the input: arguments are seen by everybody. */
async function commit(socket: string): Promise<string> {
  const args = ['-sS', '--unix-socket', socket, '-H', '@-', '-d', '{"message":"x"}', 'http://x/commit']
  const asking = promisify(execFile)('curl', args)
  asking.child.stdin?.end(`Authorization: Bearer ${TOKEN}\n`)
  return (await asking).stdout
}

/** Runs the task until it waits, asks twice for a commit, and lets a second task have the workspace. */
async function perform(
  tasks: ArchiveTasks,
  archive: Archive,
  { script, image }: { script: string; image: string | null },
) {
  await tasks.start()
  const id = await tasks.add(archive, { run: `${script}\n${WAIT}`, image, name: 'hostile' })
  const { socket, workspace } = await placesOf(tasks, id, image)
  const answers = [await commit(socket), await commit(socket)]
  writeFileSync(join(workspace, 'go'), '')
  expectSuccess(await tasks.ended(id))
  expectSuccess(await tasks.run(archive, { run: 'true', image }))
  return answers
}

describe.each([
  ['in a container', IMAGE],
  ['on the host', null],
])('a task %s', (_where, image) => {
  test('leaves a repository with a filter, and no command runs when its workspace is committed', async () => {
    const { path } = await scratch()
    const mark = join(path, 'mark')
    const archive = await inGit.archive()
    const answers = await perform(inGit, archive, {
      image,
      script: `
        cp -r .git sub.git && mkdir sub && mv sub.git sub/.git && cp a sub/a
        printf '[filter "x"]\\n\\tclean = touch %s\\n[core]\\n\\tfsmonitor = touch %s\\n' '${mark}' '${mark}' >> sub/.git/config
        mkdir -p sub/.git/info && echo '* filter=x' > sub/.git/info/attributes
        echo changed > a`,
    })
    for (const answer of answers) expect(answer).toContain('"invalid_change"')
    expect(existsSync(mark)).toBe(false)
    expect(await archive.repository.youngest()).toMatchObject({ number: 1 })
  })

  test('writes work into .svn/wc.db, and nothing outside of its workspace moves', async () => {
    const { path } = await scratch()
    const elsewhere = join(path, 'elsewhere')
    await mkdir(elsewhere)
    await write(join(elsewhere, 'precious'), 'precious')
    const archive = await inSvn.archive()
    // The task brings the database of a working copy that is like its own, with work to be done.
    await say('svn', ['checkout', '-q', archive.plain.options.url, join(path, 'copy')])
    plantWork(join(path, 'copy'), elsewhere)
    const db = readFileSync(join(path, 'copy', '.svn', 'wc.db')).toString('base64')
    await archive.commit({ 'db.txt': db })
    const answers = await perform(inSvn, archive, {
      image,
      script: 'base64 -d db.txt > .svn/wc.db; rm -f .svn/wc.db-journal; echo changed > a',
    })
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({ revision: { number: 3 }, is_new: true })
    expect(readdirSync(elsewhere)).toEqual(['precious'])
    expect(readFileSync(join(elsewhere, 'precious'), 'utf8')).toBe('precious')
  })
})
