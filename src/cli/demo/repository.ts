import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What the demonstration uses of this machine is not there. */
export class DemoNeeds extends Error {
  readonly code = 'demo_needs'
  readonly remedy = 'install the packages subversion and groff, and start it again'
  constructor(what: string) {
    super(`the demonstration needs ${what}, which does not work here`)
  }
}

export async function requirePrograms(): Promise<void> {
  const works = (program: string, args: readonly string[]) =>
    run(program, args).then(
      () => true,
      () => false,
    )
  if (!(await works('svnadmin', ['--version', '--quiet']))) throw new DemoNeeds('svnadmin')
  if (!(await works('svnmucc', ['--version']))) throw new DemoNeeds('svnmucc')
  if (!(await works('groff', ['-ms', '-Tpdf', '/dev/null']))) throw new DemoNeeds('groff with PDF')
}

/** A real Subversion repository to which a person who is not there commits. */
export class DemoRepository {
  readonly path: string
  readonly url: string

  constructor(path: string) {
    this.path = path
    this.url = pathToFileURL(path).href
  }

  /** Makes it, unless it is there. One that was killed while it was made is made anew. */
  async create(): Promise<void> {
    if ((await stat(join(this.path, 'format')).catch(() => undefined)) !== undefined) return
    const draft = `${this.path}.new`
    await rm(draft, { recursive: true, force: true })
    await rm(this.path, { recursive: true, force: true })
    await run('svnadmin', ['create', draft])
    await rename(draft, this.path)
  }

  async youngest(): Promise<number> {
    const { stdout } = await run('svnlook', ['youngest', this.path])
    return Number(stdout)
  }

  /** Makes the next revision of whole files; folders that are new are named. */
  async commit(
    message: string,
    files: Readonly<Record<string, string>>,
    folders: readonly string[] = [],
  ): Promise<void> {
    const scratch = await mkdtemp(`${this.path}-commit-`)
    try {
      const edits: string[] = folders.flatMap((folder) => ['mkdir', folder])
      for (const [path, text] of Object.entries(files)) {
        const file = join(scratch, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, text)
        edits.push('put', file, path)
      }
      await run('svnmucc', ['--non-interactive', '-u', 'miller', '-m', message, '-U', this.url, ...edits])
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  /** Does something while nobody hears of commits, as if their hook were held up. */
  async withoutHook(body: () => Promise<void>): Promise<void> {
    const hook = join(this.path, 'hooks', 'post-commit')
    await rename(hook, `${hook}.held-up`)
    try {
      await body()
    } finally {
      await rename(`${hook}.held-up`, hook)
    }
  }
}
