import { defineConfig } from 'vitest/config'
import { routeTable } from './web/build/route-table.ts'

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
          exclude: ['test/crash/**', 'test/e2e/**'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [routeTable()],
        test: { name: 'web', include: ['web/src/**/*.test.{ts,tsx}'], testTimeout: 15_000 },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
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
