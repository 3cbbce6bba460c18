import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin, Rollup } from 'vite'

/**
 * Fails the build when what a browser loads before it shows anything is larger than agreed; says how large it is, also in
 * `first-load.json` beside the page, which is not served.
 */
export function firstLoad({ mostKilobytes }: { mostKilobytes: number }): Plugin {
  return {
    name: 'millrace:first-load',
    apply: 'build',
    writeBundle({ dir = '.' }, bundle) {
      const files = firstFiles(bundle)
      const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dir, file))).length, 0)
      const kilobytes = bytes / 1024
      const figure = `first load: ${kilobytes.toFixed(0)} of ${mostKilobytes} KB (gzip, ${files.length} files)`
      process.stderr.write(`${figure}\n`)
      writeFileSync(join(dir, 'first-load.json'), JSON.stringify({ bytes, mostBytes: mostKilobytes * 1024, files }))
      if (kilobytes > mostKilobytes) this.error(`${figure}: load parts of it later, with import()`)
    },
  }
}

function firstFiles(bundle: Rollup.OutputBundle): string[] {
  const found = new Set<string>()
  const visit = (file: string) => {
    const chunk = bundle[file]
    if (found.has(file) || chunk?.type !== 'chunk') return
    found.add(file)
    for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style)
    for (const next of chunk.imports) visit(next)
  }
  for (const [file, chunk] of Object.entries(bundle)) if (chunk.type === 'chunk' && chunk.isEntry) visit(file)
  return [...found]
}
