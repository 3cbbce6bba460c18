import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Of the root alone: both projects share the one server it starts.
    globalSetup: ['test/global-setup.ts'],
    // The database works beside each of them; more than two would only wait for it on a small machine.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/crash/**'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
