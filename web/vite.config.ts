import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressFiles } from './build/compress-files.ts'
import { firstLoad } from './build/first-load.ts'
import { routeTable } from './build/route-table.ts'

export default defineConfig({
  // Relative: the server names the base in the page, so one build works under every path.
  base: './',
  plugins: [react(), routeTable(), firstLoad({ mostKilobytes: 250 }), compressFiles()],
  build: {
    target: 'es2022',
    emptyOutDir: true,
    // A data: URL in a style sheet or script would be refused by the content policy in places; files never are.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What matters is what is loaded first, and that is measured above.
    chunkSizeWarningLimit: 1000,
  },
})
