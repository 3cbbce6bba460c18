// What `server/` packs comes from the folder above: npm takes nothing from outside a package. `prepack` copies it there,
// `postpack` removes it.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

const parts = ['dist', 'migrations', 'schemas', 'CHANGELOG.md', 'LICENSE', 'README.md']
const isCleaning = process.argv.includes('--clean')

if (!isCleaning) bootstrap()
for (const part of parts) {
  const copy = join(root, 'server', part)
  rmSync(copy, { recursive: true, force: true })
  if (!isCleaning) cpSync(join(root, part), copy, { recursive: true })
}
