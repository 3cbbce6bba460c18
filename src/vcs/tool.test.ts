import { expect, test } from 'vitest'
import { isAlive, waitFor } from '../../test/processes.ts'
import { OutputTooLarge, runTool, streamTool, type ToolCall } from './tool.ts'

const shell = (script: string, more: Partial<ToolCall> = {}): ToolCall => ({
  program: 'sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin' },
  silenceMs: 10_000,
  ...more,
})

/** Starts a program that says the numbers of two processes, and answers these. */
async function family(script: string, more: Partial<ToolCall>) {
  const pieces = streamTool(shell(script, more))
  let said = ''
  while (!/\d+ \d+\n/.test(said)) said += (await pieces.next()).value
  return { pieces, pids: said.trim().split(' ').map(Number) }
}

const gone = (pids: readonly number[]) => waitFor(() => (pids.some(isAlive) ? undefined : true))

test('a program gets its arguments as they are and its environment from nobody else', async () => {
  const args = ['%s|', '$HOME', '`id`', '; rm -rf /', '--help', 'a b']
  const said = await runTool({ ...shell(''), program: 'printf', args })
  expect(said.toString()).toBe('$HOME|`id`|; rm -rf /|--help|a b|')
  const variables = (await runTool({ ...shell(''), program: 'env', args: [] })).toString()
  expect(variables).toBe('PATH=/usr/bin:/bin\n')
})

test('a program that fails is quoted by its first error line', async () => {
  const failing = runTool(shell('echo "warning: never mind" >&2; echo "fatal: it is so" >&2; echo more >&2; exit 3'))
  await expect(failing).rejects.toMatchObject({
    code: 'repository_failed',
    message: 'sh ended with 3: it is so',
    detail: 'it is so',
    exitCode: 3,
  })
})

test('a program that is not there is named with what to install', async () => {
  const missing = runTool(shell('', { program: 'svnmucc', env: { PATH: '/nonexistent' } }))
  await expect(missing).rejects.toMatchObject({ code: 'tool_missing', remedy: expect.stringContaining('subversion') })
})

test('a program that stays silent is killed with all it started', async () => {
  const { pieces, pids } = await family('sleep 1000 & echo "$$ $!"; wait', { silenceMs: 200 })
  await expect(pieces.next()).rejects.toMatchObject({ code: 'timeout', isRetryable: true })
  await gone(pids)
})

test('a program that ignores the request to end is killed', async () => {
  const abort = new AbortController()
  const script = 'trap "" TERM; sh -c "trap \\"\\" TERM; while :; do sleep 1; done" & echo "$$ $!"; wait'
  const { pieces, pids } = await family(script, { signal: abort.signal })
  const reason = new Error('stop')
  abort.abort(reason)
  await expect(pieces.next()).rejects.toBe(reason)
  await gone(pids)
})

test('whoever stops reading stops the program', async () => {
  const { pieces, pids } = await family('sleep 1000 & echo "$$ $!"; yes', {})
  await pieces.return(undefined)
  await gone(pids)
})

test('a program that says more than is wanted is stopped', async () => {
  await expect(runTool(shell('yes'), 1000)).rejects.toBeInstanceOf(OutputTooLarge)
})

test('a program that does not read its input is judged by how it ends', async () => {
  const input = 'x'.repeat(1_000_000)
  expect((await runTool(shell('echo fine', { input }))).toString()).toBe('fine\n')
  expect(await runTool(shell('cat', { input }))).toHaveLength(1_000_000)
})
