import { expect, test, vi } from 'vitest'
import { NextLook } from './next-look.ts'

test('a look that could not be made when its time came stays due until it is made', async () => {
  const onDue = vi.fn()
  const next = new NextLook(onDue)
  expect(next.isDue).toBe(false)
  next.planIn(0)
  await expect.poll(() => onDue.mock.calls.length).toBe(1)
  expect(next.isDue).toBe(true)
  next.made()
  expect(next.isDue).toBe(false)
})

test('a look that was made, or planned anew, does not come due as it was planned before', async () => {
  const onDue = vi.fn()
  const next = new NextLook(onDue)
  next.planIn(0)
  next.made()
  next.planIn(0)
  next.planIn(3_600_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(onDue).not.toHaveBeenCalled()
  expect(next.isDue).toBe(false)
  next.close()
})
