import { afterAll, beforeAll } from 'vitest'

/** One for all tests of a file or of a `describe`: started before the first of them, stopped after the last. */
export function shared<T extends AsyncDisposable>(start: () => Promise<T>): T {
  let one: T
  beforeAll(async () => {
    one = await start()
  })
  afterAll(() => one[Symbol.asyncDispose]())
  return new Proxy({} as T, { get: (_, key) => Reflect.get(one, key) })
}
