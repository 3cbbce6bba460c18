import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const WORTHWHILE = 1024 // bytes; below it the headers cost more than is saved

/** Puts a `.br` and a `.gz` beside each text that was built: the server sends them as they are. */
export function compressFiles(): Plugin {
  return {
    name: 'millrace:compress-files',
    apply: 'build',
    writeBundle({ dir = '.' }) {
      const folder = join(dir, 'assets')
      for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg|json)$/.test(file))) {
        const content = readFileSync(join(folder, name))
        if (content.length < WORTHWHILE) continue
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
      }
    },
  }
}
