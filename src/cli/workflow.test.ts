import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Answered, begin } from '../../test/command-line.ts'
import { scratch } from '../../test/scratch.ts'

const GOOD = `
- name: indexing
  uses: index
  depends: [PREV]
- name: build-PDF
  command: make pdf
  depends: [indexing]
  cancels: [PREV]
  if: paths matches "chapters/**"
`

/** Runs `millrace workflow` in a folder that has these files. */
async function workflow(
  args: string[],
  files: Record<string, string>,
  stdin?: string,
): Promise<Answered & { folder: string }> {
  const { path } = await scratch()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), text)
  }
  const answered = await begin(['workflow', ...args], {
    workingDirectory: path,
    ...(stdin === undefined ? {} : { stdin }),
  })
  return { ...answered, folder: path }
}

describe('lint', () => {
  test('finds what is wrong with the files of the folder, and nothing else there', async () => {
    const files = {
      '_workflows/a.yaml': '- nam: a\n  command: make\n',
      '_workflows/README.txt': ':',
      '_workflows/x/b.yaml': ':',
    }
    const { stdout, exitCode } = await workflow(['lint'], files)
    expect(stdout).toContain('_workflows/a.yaml:1:3 error unknown-key: there is no key "nam" here')
    expect(stdout).toMatch(/^1 error, 0 warnings in 1 file$/m)
    expect(exitCode).toBe(7)
  })

  test('says nothing is wrong with exit code 0, and counts warnings when told to', async () => {
    expect(await workflow(['lint'], { '_workflows/a.yaml': GOOD })).toMatchObject({
      exitCode: 0,
      stdout: '0 errors, 0 warnings in 1 file\n',
    })
    const warned = { '_workflows/a.yaml': '' }
    expect((await workflow(['lint'], warned)).exitCode).toBe(0)
    expect((await workflow(['lint', '--strict'], warned)).exitCode).toBe(7)
  })

  test('takes files, folders, the root of an archive and standard input', async () => {
    const files = {
      'a.yaml': '- name: a\n',
      'archive/_workflows/b.yml': '- name: b\n',
      'more/c.json': '[{"name": "c"}]',
    }
    const { stdout } = await workflow(['lint', 'a.yaml', 'archive', 'more', '-', '-q'], files, '- name: d\n')
    expect(stdout).toBe('a.yaml:1:9\narchive/_workflows/b.yml:1:9\nmore/c.json:1:11\nstdin.yaml:1:9\n')
  })

  test('one file may name what the files beside it define, and a file named twice is one', async () => {
    const files = {
      '_workflows/a.yaml': '- name: a\n  command: make\n  depends: b\n',
      '_workflows/b.yaml': '- name: b\n  command: make\n- name: c\n',
    }
    const one = await workflow(['lint', '_workflows/a.yaml', './_workflows/a.yaml'], files)
    expect(one).toMatchObject({ exitCode: 0, stdout: '0 errors, 0 warnings in 1 file\n' })
    expect((await workflow(['lint'], files)).stdout).toContain('1 error, 0 warnings in 2 files')
    const cycle = { ...files, '_workflows/b.yaml': '- name: b\n  command: make\n  depends: a\n' }
    const { stdout } = await workflow(['lint', '_workflows/b.yaml', '-q'], cycle)
    expect(stdout).toBe('_workflows/a.yaml:3:12\n')
  })

  test('writes every format', async () => {
    const files = { 'a.yaml': '- name: a\n' }
    expect(JSON.parse((await workflow(['lint', 'a.yaml', '--format', 'sarif'], files)).stdout)).toMatchObject({
      version: '2.1.0',
    })
    expect((await workflow(['lint', 'a.yaml', '--format', 'github'], files)).stdout).toMatch(
      /^::error file=a\.yaml,line=1/,
    )
    expect(JSON.parse((await workflow(['lint', 'a.yaml', '--format', 'json'], files)).stdout)).toHaveLength(1)
    expect((await workflow(['lint', 'a.yaml', '--json=code,line'], files)).stdout).toBe(
      '[{"code":"nothing-to-run","line":1}]\n',
    )
  })

  test('what a file holds reaches no terminal as a command', async () => {
    const files = {
      'a.yaml': '- name: "\u001b[31m\u202e"\n',
      'b.yaml': '- name: b\n  depends: "\\e[31m"\n  command: make\n',
    }
    const { stdout } = await workflow(['lint', 'a.yaml', 'b.yaml'], files)
    expect(stdout).toContain('> 1 | - name: "\ufffd[31m\ufffd"')
    expect(stdout).toContain('bad-reference: "\ufffd[31m"')
    for (const sign of ['\u001b', '\u202e']) expect(stdout).not.toContain(sign)
  })

  test('what is not there is refused', async () => {
    for (const args of [['lint'], ['lint', 'gone.yaml'], ['lint', 'empty']]) {
      const { exitCode, stderr } = await workflow(args, { 'empty/x.txt': '' })
      expect(exitCode).toBe(2)
      expect(stderr).toContain('to fix it:')
    }
  })
})

describe('plan', () => {
  test('shows what a commit would do after one with the same files', async () => {
    const { stdout, exitCode } = await workflow(['plan', '--rev', '3', '--changed', 'chapters/1.md'], {
      '_workflows/a.yaml': GOOD,
    })
    expect(exitCode).toBe(0)
    expect(stdout).toBe(`\
// <-- means "depends/waits for"
// <!= means "cancels/supersedes"

rev-2:COMMIT    <-- rev-3:COMMIT     // added implicitly with rev-3
rev-3:COMMIT    <-- rev-3:indexing   // added implicitly with rev-3
rev-2:indexing  <-- rev-3:indexing
rev-2:build-PDF <!= rev-3:build-PDF
rev-3:indexing  <-- rev-3:build-PDF
`)
  })

  test('says what is left out and why, and when schedules come', async () => {
    const nightly = 'on: {schedule: {cron: "0 3 * * *"}}\ntasks: [{name: nightly, command: make}]\n'
    const { stdout } = await workflow(['plan', '--assume-prev', 'none'], {
      '_workflows/a.yaml': GOOD,
      '_workflows/b.yaml': nightly,
    })
    expect(stdout).toContain(
      'not at rev-2:\n  build-PDF: its condition does not hold\n  nightly: its workflow is not started by commits\n',
    )
    expect(stdout).toMatch(/next by schedule:\n {2}b, 0 3 \* \* \* in UTC: (\d{4}-\d\d-\d\dT03:00:00Z(, |$)){5}/m)
    expect(stdout).not.toContain('rev-1')
  })

  test('the first revision has none before it', async () => {
    const { stdout } = await workflow(['plan', '--rev', '1'], { '_workflows/a.yaml': GOOD })
    expect(stdout).toContain('rev-1:COMMIT <-- rev-1:indexing')
    expect(stdout).not.toContain('rev-0')
  })

  test('of what is over, nothing is canceled', async () => {
    const { stdout } = await workflow(['plan', '--assume-prev', 'over', '--changed', 'chapters/1'], {
      '_workflows/a.yaml': GOOD,
    })
    expect(stdout).not.toMatch(/<!= rev/)
  })

  test('as JSON has the tasks with their requirements', async () => {
    const { stdout } = await workflow(['plan', '--archive', 'Book', '--json'], { '_workflows/a.yaml': GOOD })
    expect(JSON.parse(stdout)).toMatchObject({
      archive: 'Book',
      rev: '2',
      tasks: [
        { name: 'COMMIT', key: 'Book@2:COMMIT' },
        {
          name: 'indexing',
          key: 'Book@2:indexing',
          requires: [{ key: 'Book@2:COMMIT' }, { key: 'Book@1:indexing' }],
          timeout_seconds: 3600,
        },
      ],
      next_runs: [],
    })
  })

  test('plans runs by hand and by schedule', async () => {
    const files = {
      '_workflows/a.yaml':
        'on: {manual: {inputs: {edition: }}, schedule: {cron: "@daily"}}\ntasks: [{name: a, command: make, depends: PREV}]',
    }
    const byHand = await workflow(['plan', '--task', 'a', '--input', 'edition=x=y', '--json'], files)
    expect(JSON.parse(byHand.stdout).tasks).toMatchObject([
      { key: 'archive@2:a#manual', env: { MILLRACE_INPUT_EDITION: 'x=y' } },
    ])
    expect((await workflow(['plan', '--schedule', 'a'], files)).stdout).toContain('rev-2:COMMIT <-- rev-2:a#schedule')
    expect((await workflow(['plan', '--workflow', 'b'], files)).exitCode).toBe(3)
    expect((await workflow(['plan', '--workflow', 'a', '--input', 'x=y'], files)).exitCode).toBe(2)
    expect((await workflow(['plan', '--workflow', 'a', '--task', 'a'], files)).exitCode).toBe(2)
    expect((await workflow(['plan', '--input', 'x=y'], files)).exitCode).toBe(2)
  })

  test('broken files are refused, and lint is recommended', async () => {
    const { exitCode, stderr } = await workflow(['plan'], { '_workflows/a.yaml': '- name: a\n' })
    expect(exitCode).toBe(7)
    expect(stderr).toContain(
      'the workflow files have 1 error\nto fix it: mend the workflow files; `millrace workflow lint`',
    )
  })
})

test('graph draws the tasks', async () => {
  const files = { '_workflows/a.yaml': GOOD }
  expect((await workflow(['graph'], files)).stdout).toContain('indexing       <-- build-PDF\n')
  expect((await workflow(['graph', '--format', 'svg'], files)).stdout).toMatch(/^<svg .*<\/svg>\n$/s)
})

test('schema prints what is published', async () => {
  const published = await readFile(new URL('../../schemas/workflow.v1.json', import.meta.url), 'utf8')
  expect((await workflow(['schema'], {})).stdout).toBe(published)
})

describe('init', () => {
  test('writes a file without findings', async () => {
    const { stdout, folder } = await workflow(['init', '--server', 'http://mill.example:81'], {})
    expect(stdout).toContain('wrote _workflows/hello.yaml')
    expect((await begin(['workflow', 'lint', '--strict'], { workingDirectory: folder })).exitCode).toBe(0)
    const written = await readFile(join(folder, '_workflows/hello.yaml'), 'utf8')
    expect(written).toMatch(
      /^# yaml-language-server: \$schema=http:\/\/mill\.example:81\/schemas\/workflow\.v1\.json\n/,
    )
  })

  test('overwrites nothing', async () => {
    const { exitCode, folder } = await workflow(['init'], { '_workflows/hello.yaml': 'mine' })
    expect(exitCode).toBe(2)
    expect(await readFile(join(folder, '_workflows/hello.yaml'), 'utf8')).toBe('mine')
  })
})
