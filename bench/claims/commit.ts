import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Claim, figures, median, ratioBar } from '../harness/bench.ts'

const LIBRARY = join(import.meta.dirname, '..', '..', 'dist', 'vcs', 'index.js')
const FILES = 5_000
const COMMITS = 5 // of each, in turn, in a round
const RATIO = 1.5

type Type = 'git' | 'svn'

/** What the bench uses of the built library. */
type Library = {
  openRepository(options: object): {
    youngest(): Promise<object>
    workspace(wanted: { revision: object }): Promise<AsyncDisposable & { readonly path: string }>
    commit(workspace: object, options: { message: string; marker: string }): Promise<object | undefined>
  }
}

const person = {
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'b@example.org',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'b@example.org',
}
const run = (folder: string, ...words: [string, ...string[]]) =>
  execFileSync(words[0], words.slice(1), {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...person },
  })

/** What a person types to commit all that is different in a checkout. */
const byHand: Record<Type, (checkout: string) => void> = {
  git(checkout) {
    run(checkout, 'git', 'add', '--all')
    run(checkout, 'git', 'commit', '--quiet', '-m', 'bench')
    run(checkout, 'git', 'push', '--quiet', 'origin', 'HEAD:main')
  },
  svn(checkout) {
    run(checkout, 'svn', 'status', '--quiet')
    run(checkout, 'svn', 'add', '--quiet', '--force', '.')
    run(checkout, 'svn', 'commit', '--quiet', '-m', 'bench')
  },
}

/** The steps of a commit on top of the youngest, where git itself walks the files of the checkout. */
function byWalkOfGit(checkout: string): void {
  const say = (...words: string[]) =>
    execFileSync('git', words, { cwd: checkout, encoding: 'utf8', env: { ...process.env, ...person } }).trim()
  say('add', '--all')
  const changed = say('diff-index', '--cached', '--raw', '-z', '--no-abbrev', 'HEAD').split('\0')
  const tree = say('write-tree')
  const tip = say('ls-remote', 'origin', 'refs/heads/main').slice(0, 40)
  const path = changed[1] ?? ''
  say('ls-tree', '-r', '-z', tip, '--', path)
  say('ls-tree', '-z', tip, '--', join(path, '..'))
  say('read-tree', '--index-output=.git/other', tip)
  say('ls-tree', tree)
  const made = say('commit-tree', say('write-tree'), '-p', tip, '-m', 'bench')
  say('push', '--quiet', `--force-with-lease=refs/heads/main:${tip}`, 'origin', `${made}:refs/heads/main`)
  say('reset', '--quiet', '--soft', made)
}

const before: Record<Type, { readonly what: string; readonly commit: (checkout: string) => void }> = {
  git: { what: 'the same steps, with `git add`', commit: byWalkOfGit },
  svn: { what: 'typed by hand', commit: byHand.svn },
}

/** A repository with the files, and a checkout of a person's. */
function prepare(type: Type, place: string) {
  const [repository, checkout] = [join(place, `${type}.repository`), join(place, `${type}.checkout`)]
  const url = type === 'git' ? repository : `file://${repository}`
  if (type === 'git') {
    run(place, 'git', 'init', '--quiet', '--bare', '--initial-branch=main', repository)
    run(place, 'git', 'init', '--quiet', '--initial-branch=main', checkout)
    run(checkout, 'git', 'remote', 'add', 'origin', repository)
  } else {
    run(place, 'svnadmin', 'create', repository)
    run(place, 'svn', 'checkout', '--quiet', url, checkout)
  }
  for (let i = 0; i < FILES; i += 1) {
    const folder = join(checkout, `folder-${i % 100}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${i}`), `file ${i}\n`.repeat(150))
  }
  byHand[type](checkout)
  const branch = type === 'git' ? { branch: 'main' } : {}
  return { options: { type, url, ...branch }, checkout }
}

export const commit: Claim = {
  name: 'commit',
  about: `a workspace of ${FILES.toLocaleString('en-US')} files with one changed is committed`,
  async measure(bench) {
    const found = figures()
    for (let round = 1; round <= bench.rounds && bench.takesPart('millrace'); round += 1) {
      console.log(` round ${round} of ${bench.rounds}`)
      const library = (await import(LIBRARY)) as Library
      const place = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
      try {
        for (const type of ['git', 'svn'] as const) {
          // A repository for each, so that neither has to bring in what the other has committed.
          const [hers, ours] = [join(place, 'hers'), join(place, 'ours')]
          for (const folder of [hers, ours]) mkdirSync(folder, { recursive: true })
          const { checkout } = prepare(type, hers)
          const { options } = prepare(type, ours)
          const repository = library.openRepository({ ...options, cacheDir: join(place, 'cache') })
          await using workspace = await repository.workspace({ revision: await repository.youngest() })
          const times = { before: [] as number[], own: [] as number[] }
          for (let n = 0; n < COMMITS; n += 1) {
            for (const folder of [checkout, workspace.path]) writeFileSync(join(folder, 'folder-7', 'file-7'), `${n}\n`)
            let from = performance.now()
            before[type].commit(checkout)
            times.before.push(performance.now() - from)
            from = performance.now()
            await repository.commit(workspace, { message: 'bench', marker: `bench ${round} ${n}` })
            times.own.push(performance.now() - from)
          }
          found.note(type, before[type].what, 'ms', median(times.before))
          found.note('millrace', `${type}: a commit`, 'ms', median(times.own))
        }
      } finally {
        rmSync(place, { recursive: true, force: true })
      }
    }
    const bar = (type: Type) =>
      ratioBar(
        `${type}: a commit <= ${RATIO} x ${before[type].what}`,
        found.of('millrace', `${type}: a commit`) / found.of(type, before[type].what),
        { atMost: RATIO },
      )
    return {
      claim: commit.about,
      rows: found.rows,
      verdicts: [bar('git'), bar('svn')],
      notes: [
        'Files of 1.5 KB, fifty in each folder; repositories on the local disk; by hand is `status`, `add` and `commit`.',
      ],
    }
  },
}
