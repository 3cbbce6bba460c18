import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { below, command, shell, useNodes } from '../../test/nodes.ts'

process.env['SECRET_OF_THE_SERVER'] = 'hush'
const nodes = useNodes()

describe('T6: commands', () => {
  test('a command gets its arguments as they are, without a shell', async () => {
    const args = ['$HOME', '*', '; echo x', "it's", '', 'ä €', '--']
    const [node] = await nodes.run(command('printf', '%s|', ...args))
    expect(node.data).toMatchObject({ result: 0, stdout: args.map((arg) => `${arg}|`).join(''), stderr: '' })
    expect(node.metadata.state).toBe('finished')
  })

  test('a shell command is run by bash', async () => {
    const [node] = await nodes.run(shell('a=(x y z); echo "$a $((1 + 2)) $BASH_VERSION" | sed s/x/w/'))
    expect(node.data.stdout).toMatch(/^w 3 \d/)
  })

  test('mixedout keeps the order of stdout and stderr', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done'
    const [node] = await nodes.run(shell(script))
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    expect(node.data.mixedout).toBe(numbers.map((i) => `out ${i}\nerr ${i}\n`).join(''))
    expect(node.data.stdout).toBe(numbers.map((i) => `out ${i}\n`).join(''))
    expect(node.data.stderr).toBe(numbers.map((i) => `err ${i}\n`).join(''))
  })

  test('result is the exit code, and anything but 0 is a failure', async () => {
    const [one, many] = await nodes.run(command('false'), shell('exit 42'))
    expect([one.metadata.state, one.data.result]).toEqual(['failed', 1])
    expect([many.metadata.state, many.data.result]).toEqual(['failed', 42])
    expect(many.data.error).toBeUndefined()
  })

  test('a command that a signal ended names it', async () => {
    const [node] = await nodes.run(shell('kill -SEGV $$'))
    expect(node.metadata.state).toBe('failed')
    expect(node.data).toMatchObject({ result: null, signal: 'SIGSEGV' })
  })

  test.each([
    ['/nonexistent/program', {}, /no such|ENOENT|not/i],
    ['/etc/passwd', {}, /not executable|permission/i],
    ['true', { cwd: '/nonexistent/folder' }, /folder|ENOENT|no such/i],
  ])('%s with %j cannot be started, and says why', async (program, data, says) => {
    const [node] = await nodes.run(below('root', command(program), { data }))
    expect(node.metadata.state).toBe('failed')
    expect(node.data).toMatchObject({ result: null, stdout: '', stderr: '' })
    expect(node.data.error).toMatch(/^could not be started: /)
    expect(node.data.error).toMatch(says)
  })

  test('a command that takes too long is stopped, with all it started', async () => {
    const [node] = await nodes.run(below('root', shell('sleep 300 & echo $!; sleep 300'), { data: { timeout: '3s' } }))
    expect(node.metadata.state).toBe('failed')
    expect(node.data.error).toBe('timed out after 3 s')
    expect(node.data.stdout).toMatch(/^\d+\n$/)
    expect(existsSync(`/proc/${node.data.stdout.trim()}`)).toBe(false)
  })

  test('ten megabytes of both streams are kept whole, in the exact order of the writes', async () => {
    // Numbered lines of random length to a random stream, each by one write.
    const program = `
      for my $n (0 .. 199_999) {
        my $line = sprintf "%d %s\\n", $n, "x" x rand 90;
        syswrite rand() < 0.5 ? STDOUT : STDERR, $line;
      }`
    const [node] = await nodes.run(command('perl', '-e', program))
    expect(node.metadata.state).toBe('finished')
    expect(node.omitted).toEqual(['stdout', 'stderr', 'mixedout'])
    const whole = async (key: string) => {
      let text = ''
      let at = ''
      for (;;) {
        const { json } = await nodes.ask('GET', `/v1/nodes/${node.metadata.id}/data/${key}?limit=1048576${at}`)
        text += json.data
        if (json.pagination === undefined) return text
        at = `&start=${json.pagination.next}&pid=${json.pagination.pid}`
      }
    }
    const [mixed, stdout, stderr] = [await whole('mixedout'), await whole('stdout'), await whole('stderr')]
    expect(mixed.length).toBeGreaterThan(9_500_000)
    const lines = (text: string) => text.split('\n').slice(0, -1)
    const numberOf = (line: string) => Number.parseInt(line, 10)
    expect(lines(mixed).findIndex((line, i) => numberOf(line) !== i)).toBe(-1)
    expect(lines(mixed)).toHaveLength(200_000)
    // Each stream is what the mixture has of it.
    const merged = [...lines(stdout), ...lines(stderr)].sort((a, b) => numberOf(a) - numberOf(b))
    expect(merged.join('\n') === lines(mixed).join('\n')).toBe(true)
    expect(Math.min(stdout.length, stderr.length)).toBeGreaterThan(4_000_000)
  })

  test('bytes that are not UTF-8 are shown as such, and can be had exactly', async () => {
    const [node] = await nodes.run(shell("printf 'a\\xff\\xfeb\\xe2\\x82'"))
    expect(node.data.stdout).toBe('a\ufffd\ufffdb\ufffd')
    const { json } = await nodes.ask('GET', `/v1/nodes/${node.metadata.id}/data/stdout?encoding=base64`)
    expect(Buffer.from(json.data, 'base64')).toEqual(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xe2, 0x82]))
    const { json: piece } = await nodes.ask('GET', `/v1/nodes/${node.metadata.id}/data/stdout?limit=4`)
    expect(piece).toMatchObject({ data: 'a\ufffd\ufffdb', pagination: { next: '4' } })
  })

  test('a command that says nothing stores nothing', async () => {
    const [node] = await nodes.run(command('true'))
    const { rows } = await nodes.server.database.pool.query('select 1 from millrace.output where task = $1', [
      node.metadata.task,
    ])
    expect(rows).toEqual([])
    expect(node.data).toMatchObject({ stdout: '', stderr: '', mixedout: '' })
  })
})

describe('T6: the surroundings of a command', () => {
  test('the environment is a minimal one, with what was given, and nothing of the server', async () => {
    const [node] = await nodes.run(
      below('root', command('env'), { data: { env: { GREETING: 'hello world', PATH: '/bin' } } }),
    )
    const env = Object.fromEntries(
      node.data.stdout
        .trim()
        .split('\n')
        .map((line: string) => line.split(/=(.*)/s).slice(0, 2)),
    )
    expect(Object.keys(env).sort()).toEqual([
      'GREETING',
      'HOME',
      'LANG',
      'MILLRACE_MARKER',
      'MILLRACE_NODE',
      'MILLRACE_RUNNER',
      'MILLRACE_TOKEN',
      'MILLRACE_URL',
      'PATH',
      'TMPDIR',
    ])
    expect(env).toMatchObject({
      GREETING: 'hello world',
      PATH: '/bin',
      MILLRACE_NODE: node.metadata.id,
      MILLRACE_URL: nodes.server.url,
    })
    expect(node.data.stdout).not.toContain('hush')
  })

  test('the token is not kept with the output', async () => {
    const [node] = await nodes.run(shell('echo "token $MILLRACE_TOKEN"'))
    expect(node.data.stdout).toBe('token ***\n')
  })

  test('without a folder of its own a command gets a fresh one, which is gone afterwards', async () => {
    const [one, two] = await nodes.run(shell('pwd; ls -A | wc -l; echo x > file'), shell('pwd'))
    const [path, count] = one.data.stdout.trim().split('\n')
    expect(count).toBe('0')
    expect(path).not.toBe(two.data.stdout.trim())
    expect(existsSync(path)).toBe(false)
    expect(await readdir(dirname(path))).toEqual([])
  })

  test('cwd, umask and limits are honoured', async () => {
    const [node] = await nodes.run(
      below('root', shell('pwd; umask; ulimit -n'), {
        data: { cwd: '/usr', umask: '027', limits: { open_files: 77 } },
      }),
    )
    expect(node.data.stdout).toBe('/usr\n0027\n77\n')
  })
})
