import { expect, test } from 'vitest'
import { findZoneChange } from './zone-change.ts'

test('the change to summer time is found within the hour, and how far the clocks go', () => {
  const found = findZoneChange(Date.UTC(2026, 2, 20), 30, 'Europe/Berlin')
  expect(found?.byMinutes).toBe(60)
  const change = Date.UTC(2026, 2, 29, 1)
  expect(found?.at).toBeGreaterThanOrEqual(change)
  expect(found?.at).toBeLessThanOrEqual(change + 3_600_000)
})

test('a zone that does not change, and one that nobody knows, have none', () => {
  expect(findZoneChange(Date.UTC(2026, 2, 20), 30, 'UTC')).toBeUndefined()
  expect(findZoneChange(Date.UTC(2026, 2, 20), 30, 'Atlantis/Center')).toBeUndefined()
  expect(findZoneChange(Date.UTC(2026, 4, 20), 30, 'Europe/Berlin')).toBeUndefined()
})
