import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Asked, begin } from '../../test/command-line.ts'
import { isAlive, waitFor } from '../../test/processes.ts'
import { scratch } from '../../test/scratch.ts'

/** Begins `millrace workflow run` in a folder that has this workflow file. */
async function run(workflow: string, args: string[] = [], asked: Asked = {}) {
  const { path } = await scratch()
  await mkdir(join(path, '_workflows'))
  await writeFile(join(path, '_workflows', 'a.yaml'), workflow)
  const begun = begin(['workflow', 'run', ...args], { workingDirectory: path, ...asked })
  return { begun, path }
}

describe('workflow run', () => {
  test('runs tasks in their order in this folder, each line behind the name of its task', async () => {
    const { begun, path } = await run(
      `
- name: second
  depends: [first, indexing]
  command: [sh, -c, 'cat made; cat "$MILLRACE_ARTIFACTS/first/made"; printf rest']
- name: first
  script: |
    echo "$MILLRACE_TASK of $MILLRACE_ARCHIVE at $MILLRACE_REVISION" | tee made
    echo careful >&2
  artifacts: made
- name: indexing
  uses: index
`,
      ['--rev', '12', '--archive', 'My-Project'],
    )
    const { stdout, stderr, exitCode } = await begun
    const line = 'first of My-Project at 12'
    expect(stdout).toBe(`first | ${line}\nsecond | ${line}\nsecond | ${line}\nsecond | rest\n`)
    expect(stderr).toMatch(
      /^first \| careful\nfirst: succeeded, [\d.]+ s\nindexing: succeeded \("index" is done by a server\), 0.0 s\nsecond: succeeded, [\d.]+ s\n$/,
    )
    expect(exitCode).toBe(0)
    expect(await readFile(join(path, 'made'), 'utf8')).toBe(`${line}\n`)
  })

  test('ends with the worst exit code, and skips what needs what failed', async () => {
    const workflow = `
- { name: a, command: [sh, -c, 'exit 3'] }
- { name: b, command: [sh, -c, 'exit 2'] }
- { name: c, depends: [a], command: ['true'] }
- { name: clean, depends: [{ task: a, when: failed }], command: [echo, cleaned] }
- { name: nothing-to-do, command: [sh, -c, 'exit 99'] }
`
    const { exitCode, stderr, stdout } = await (await run(workflow)).begun
    expect(exitCode).toBe(3)
    expect(stdout).toBe('clean | cleaned\n')
    expect(stderr).toContain('c: skipped (a has not succeeded)')
    expect(stderr).toContain('nothing-to-do: succeeded')
    expect((await (await run(workflow, ['--task', 'b'])).begun).exitCode).toBe(2)
    expect((await (await run(workflow, ['--task', 'd'])).begun).stderr).toContain('no task is called "d"')
  })

  test('takes variables and secrets from --env, and says which secret is missing', async () => {
    const workflow = `- { name: a, command: [sh, -c, 'echo "$A $KEY"'], secrets: [KEY], env: { A: file } }`
    expect((await (await run(workflow, ['--env', 'KEY=k'])).begun).stdout).toBe('a | file k\n')
    expect((await (await run(workflow, ['--env', 'KEY=k=l', '--env', 'A=flag'])).begun).stdout).toBe('a | flag k=l\n')
    const without = await (await run(workflow)).begun
    expect(without.exitCode).toBe(1)
    expect(without.stderr).toContain('secret KEY is not given; add --env KEY=…')
    expect((await (await run(workflow, ['--env', 'KEY'])).begun).exitCode).toBe(2)
  })

  test('that is interrupted leaves no process', async () => {
    const { begun } = await run(`- { name: a, script: 'echo $$; sleep 300' }`)
    await begun.says(/a \| \d+/)
    const pid = Number(/a \| (\d+)/.exec(begun.stdout())?.[1])
    expect(isAlive(pid)).toBe(true)
    begun.interrupt()
    expect((await begun).exitCode).toBe(130)
    await waitFor(() => (isAlive(pid) ? undefined : true))
  })

  test('tells what happens as JSON, one value a line', async () => {
    const { begun } = await run(`- { name: a, command: [sh, -c, 'echo x; exit 4'] }`, ['--json'])
    const lines = (await begun).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      { name: 'a', stream: 'stdout', line: 'x' },
      { name: 'a', state: 'failed', exit_code: 4, seconds: expect.any(Number), reason: null },
    ])
  })
})
