// The programs that tests start are compiled once for the whole run: a compiler in each of them would cost more than
// everything that they do.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Compiles `src` and the programs of the tests into a folder inside the project; `remove` deletes the folder. */
export function compilePrograms(): { readonly folder: string; readonly remove: () => void } {
  const folder = join(ROOT, '.compiled', String(process.pid))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: { noEmit: false, declaration: false, sourceMap: false, rootDir: ROOT, outDir: folder },
    files: [join(ROOT, 'src', 'bin.ts'), ...programs()],
    include: [],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', folder, '--noCheck'], { stdio: 'inherit' })
  // What the sources find beside them: scripts, and by their place in the project the folders above.
  for (const file of filesUnder('src').filter((name) => /\.(pl|sh)$/.test(name)))
    copyFileSync(join(ROOT, file), join(folder, file))
  for (const part of ['package.json', 'migrations', 'schemas', 'dist'])
    symlinkSync(join('..', '..', part), join(folder, part))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The programs of the tests: `…-program.ts`, and the two that hold something until they are killed. */
function programs(): string[] {
  return filesUnder('test')
    .filter((file) => /(-program|\/holder|\/hold-embedded)\.ts$/.test(file))
    .map((file) => join(ROOT, file))
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
}
