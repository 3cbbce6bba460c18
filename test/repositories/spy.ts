import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scratch } from '../scratch.ts'

/** Programs that write down their arguments before they run, and a cache to look through. */
export async function spyOn(programs: readonly string[]) {
  const { path } = await scratch()
  const [bin, log, cacheDir] = [join(path, 'bin'), join(path, 'log'), join(path, 'cache')]
  await mkdir(bin)
  for (const program of programs) {
    const file = join(bin, program)
    await writeFile(file, `#!/bin/sh\necho "${program} $*" >> '${log}'\nexec /usr/bin/${program} "$@"\n`)
    await chmod(file, 0o755)
  }
  return {
    environment: { PATH: `${bin}:/usr/bin:/bin` },
    cacheDir,
    arguments: () => readFile(log, 'utf8'),
    filesWith: (text: string) => findFiles(cacheDir, text),
  }
}

async function findFiles(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found = await Promise.all(files.map(async (file) => ((await readFile(file)).includes(text) ? [file] : [])))
  return found.flat()
}
