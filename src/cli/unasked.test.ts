// What a command promises with --dry-run and --yes, tried on its own examples against a server that takes everything.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { begin } from '../../test/command-line.ts'
import { revisionOf } from './revision.ts'
import { tree } from './tree.ts'

const leaves = tree.flatMap(({ commands }) =>
  commands.flatMap((entry) => ('load' in entry ? [entry] : [...entry.commands])),
)
const files = await Promise.all(leaves.map(({ load }) => load()))
const examplesOf = (flag: string) =>
  files.filter(({ usage }) => usage.includes(flag)).flatMap(({ examples }) => [...examples])

const writes: string[] = []
let server: Server

beforeAll(async () => {
  const task = (id: string) => ({
    id,
    scope: 'x',
    key: id,
    kind: 'x',
    state: 'running',
    created_at: '2026-01-01T00:00:00Z',
  })
  const two = [task('1'), task('2')]
  // Whatever is asked for is there, and where it is a list there are two of it.
  const answer = JSON.stringify({
    ...task('1'),
    url: 'http://x',
    items: two,
    tasks: two,
    nodes: two,
    next_cursor: null,
  })
  server = createServer((request, response) => {
    const isRead = request.method === 'GET' || request.url?.includes('dry_run=1')
    if (!isRead) writes.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** The example as it is written, without what it says of being asked. */
const wordsOf = (example: string) =>
  [...example.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain ?? '')
    .slice(1)
    .filter((word) => !['--yes', '--dry-run'].includes(word))

async function attempt(args: readonly string[]) {
  writes.length = 0
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answered = await begin(args, { env: { MILLRACE_URL: url, MILLRACE_TOKEN: 'any' } })
  return { ...answered, writes: [...writes] }
}

test.each(examplesOf('--dry-run'))('%s changes nothing with --dry-run', async (example) => {
  for (const more of [['--dry-run'], ['--dry-run', '--yes']]) {
    const { exitCode, stderr, writes: sent } = await attempt([...wordsOf(example), ...more])
    expect({ sent, exitCode }, stderr).toEqual({ sent: [], exitCode: 0 })
    expect(stderr).toContain('nothing was changed')
  }
})

/** One task by its name, and a verb that loses no work: that is done at once. */
const isHarmless = ([verb = '', id = '', next = '--']: readonly string[]) =>
  /^(retry|rerun|hold|release|priority)$/.test(verb) &&
  !id.startsWith('--') &&
  next.startsWith('--') &&
  revisionOf(id) === undefined

test.each(examplesOf('--yes').filter((example) => !isHarmless(wordsOf(example))))(
  '%s changes nothing where nobody can be asked, and says what to add',
  async (example) => {
    const { exitCode, stderr, writes: sent } = await attempt(wordsOf(example))
    expect({ sent, exitCode }, stderr).toEqual({ sent: [], exitCode: 2 })
    const hasDryRun = examplesOf('--dry-run').includes(example)
    const remedy = `add --yes${hasDryRun ? ', or look first with --dry-run' : ''}`
    if (example.includes('--json')) expect(JSON.parse(stderr)).toMatchObject({ code: 'usage', remedy })
    else expect(stderr).toContain(`to fix it: ${remedy}\n`)
  },
)

test.each(examplesOf('--yes'))('%s is done with --yes', async (example) => {
  const { exitCode, stderr, writes: sent } = await attempt([...wordsOf(example), '--yes'])
  expect({ isSent: sent.length > 0, exitCode }, stderr).toEqual({ isSent: true, exitCode: 0 })
})
