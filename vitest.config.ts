import { defineConfig } from 'vitest/config'
import { useFastFolder } from './test/fast-folder.ts'
import { PATIENCE_MS } from './test/processes.ts'
import { Spread } from './test/spread.ts'
import { routeTable } from './web/build/route-table.ts'

// No limit of its own may fail what is only slow on a busy machine: they are there for what hangs.
const limits = {
  testTimeout: 4 * PATIENCE_MS,
  hookTimeout: 2 * PATIENCE_MS,
  expect: { poll: { timeout: PATIENCE_MS } },
}

const ALONE = ['archives', 'db', 'runners', 'vcs'].map((name) => `src/${name}/*.test.ts`)

const LONG_MS = 60 * 60_000

useFastFolder()

export default defineConfig({
  test: {
    // Of the root alone: both projects share the one server it starts.
    globalSetup: ['test/global-setup.ts'],
    // On two cores: half of the tests wait, for a process, a lease or a page.
    maxWorkers: 4,
    sequence: { sequencer: Spread },
    projects: [
      {
        // Each file in a process of its own. They start many programs: the larger a process, the longer it takes to fork.
        test: {
          name: 'alone',
          include: [...ALONE, 'test/*.test.ts', 'test/crash/**/*.test.ts'],
          pool: 'forks',
          ...limits,
        },
      },
      {
        test: {
          name: 'core',
          globalSetup: ['test/e2e/global-setup.ts'],
          include: ['src/**/*.test.ts', 'test/{e2e,model}/**/*.test.ts'],
          exclude: ALONE,
          pool: 'forks',
          // Files share processes, and what they have loaded there: most of them load the whole server.
          isolate: false,
          ...limits,
        },
      },
      {
        plugins: [routeTable()],
        test: { name: 'web', include: ['web/src/**/*.test.{ts,tsx}'], isolate: false, ...limits },
      },
      {
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          // Of the dashboard's tests: they share its browser.
          globalSetup: ['test/e2e/global-setup.ts'],
          pool: 'forks',
          ...limits,
          testTimeout: LONG_MS,
          hookTimeout: LONG_MS,
        },
      },
    ],
  },
})
