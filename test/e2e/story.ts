// A small history in a real Subversion repository: a definition that changes, one that is broken, a task that fails.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { announce, commitFiles, planned, registered, untilState } from '../archives.ts'
import { svnFiles } from '../repositories/svn.ts'
import type { Dashboard } from './kit.ts'

export type Story = AsyncDisposable & {
  readonly name: string
  /** Lets the task `check` succeed from now on. */
  mend(): Promise<void>
}

/**
 * Revision 2 fails in `check`, so that `publish` is skipped; 3 changes the definition; 4 breaks it. No `check` ends before
 * all of them are planned: a `publish` cancels the one before only when it finds it unfinished.
 */
export async function aStory({ server }: Dashboard): Promise<Story> {
  const ground = await svnFiles()
  const place = await mkdtemp(join(tmpdir(), 'millrace-story-'))
  const [go, flag] = [join(place, 'go'), join(place, 'mended')]
  const tasks = (more = '') => `- name: index
  command: echo index
  depends: [PREV]
- name: check
  depends: [index]
  script: while [ ! -e ${go} ]; do sleep 0.05; done; test -f ${flag}
- name: publish
  depends: [check]
  cancels: [PREV]
  command: echo publish
${more}`
  const { name, plain } = await registered(server, ground)
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`chapters/${i}.txt`, `chapter ${i}`]))
  const commits: [Record<string, string | null>, string][] = [
    [{ '_workflows/book.yaml': tasks(), ...many }, 'first chapters'],
    [{ 'chapters/0.txt': 'better', 'chapters/1.txt': null }, 'better, and one less'],
    [
      {
        '_workflows/book.yaml': tasks('- name: mail\n  command: echo mail\n'),
        '_workflows/nightly.yaml': `on:
  schedule: [{ cron: "0 3 * * *", timezone: Europe/Berlin }]
  manual: { inputs: { edition: { default: draft } } }
tasks:
  - name: clean
    command: echo clean
`,
      },
      'mail it, and clean at night',
    ],
    [{ '_workflows/book.yaml': '- name: index\n  comand: echo index\n' }, 'a slip'],
  ]
  for (const [i, [files, message]] of commits.entries()) {
    await commitFiles(plain, files, message, 'ana')
    await announce(server, name, i + 1)
    await planned(server, name, i + 1)
  }
  await writeFile(go, '')
  for (const rev of [1, 2, 3]) await untilState(server, `${name}@${rev}:publish`, 'skipped')
  await untilState(server, `${name}@3:mail`, 'succeeded')
  return {
    name,
    mend: () => writeFile(flag, ''),
    async [Symbol.asyncDispose]() {
      await ground[Symbol.asyncDispose]()
      await rm(place, { recursive: true, force: true })
    },
  }
}
