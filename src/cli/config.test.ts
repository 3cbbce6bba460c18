import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { begin } from '../../test/command-line.ts'
import { scratch } from '../../test/scratch.ts'

async function aFolder() {
  const { path } = await scratch()
  return {
    path,
    run: (args: string[], asked: Parameters<typeof begin>[1] = {}) => begin(args, { ...asked, workingDirectory: path }),
  }
}

describe('config', () => {
  test('set writes what get prints, and path says where', async () => {
    const { path, run } = await aFolder()
    const where = await run(['config', 'path'])
    expect(where.stdout).toBe(`${join(path, 'millrace.config.yaml')}\n`)
    expect(where.stderr).toContain('not there yet')
    expect((await run(['config', 'set', 'port', '8080'])).exitCode).toBe(0)
    expect((await run(['config', 'get', 'port'])).stdout).toBe('8080\n')
    const told = await run(['config', 'get', 'port', '--json'])
    expect(JSON.parse(told.stdout)).toEqual({ name: 'port', value: 8080, source: join(path, 'millrace.config.yaml') })
    expect((await run(['config', 'set', 'port', '--unset'])).exitCode).toBe(0)
    expect((await run(['config', 'get', 'port'])).stdout).toBe('7420\n')
  })

  test('get of what is not set is exit code 3, and of what there is not 2', async () => {
    const { run } = await aFolder()
    expect(await run(['config', 'get', 'default_image'])).toMatchObject({ exitCode: 3, stdout: '' })
    expect(await run(['config', 'get', 'colour'])).toMatchObject({ exitCode: 2 })
  })

  test('a secret is taken from standard input, never from the command line, and never shown', async () => {
    const { path, run } = await aFolder()
    const secret = 'a-secret-of-the-test'
    expect(await run(['config', 'set', 'admin_token', secret])).toMatchObject({ exitCode: 2 })
    const set = await run(['config', 'set', 'admin_token', '--json'], { stdin: `${secret}\n` })
    expect(set).toMatchObject({ exitCode: 0 })
    expect(set.stdout + set.stderr).not.toContain(secret)
    expect(await readFile(join(path, 'millrace.config.yaml'), 'utf8')).toContain(secret)
    expect((await run(['config', 'get', 'admin_token'])).stdout).toBe('(set, not shown)\n')
  })

  test('set without a value, or with one too many, is refused with what is expected', async () => {
    const { run } = await aFolder()
    const without = await run(['config', 'set', 'port'])
    expect(without).toMatchObject({ exitCode: 2 })
    expect(without.stderr).toContain('a whole number from 0 to 65535')
    expect(await run(['config', 'set', 'port', '1', '--unset'])).toMatchObject({ exitCode: 2 })
    expect(await run(['config', 'set', 'prt', '1'])).toMatchObject({ exitCode: 2 })
  })
})

describe('init', () => {
  test('writes settings and a workflow file without findings, and names the hook of a git repository', async () => {
    const { path, run } = await aFolder()
    await mkdir(join(path, '.git'))
    const { exitCode, stdout } = await run(['init', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      files: [
        { path: 'millrace.config.yaml', state: 'written' },
        { path: '_workflows/hello.yaml', state: 'written' },
      ],
      next: expect.stringMatching(/^millrace hook install --git \. --archive /),
    })
    expect((await run(['workflow', 'lint'])).exitCode).toBe(0)
    expect((await run(['config', 'get', 'port'])).stdout).toBe('7420\n')
  })

  test('overwrites nothing, and shows how what is there differs', async () => {
    const { path, run } = await aFolder()
    await mkdir(join(path, '_workflows'))
    const mine = '- name: build\n  command: [make]\n'
    await writeFile(join(path, '_workflows', 'hello.yaml'), mine)
    const { exitCode, stdout, stderr } = await run(['init'])
    expect(exitCode).toBe(0)
    expect(stdout).toBe('wrote millrace.config.yaml\nkept _workflows/hello.yaml\n')
    expect(stderr).toContain('-   command: [make]')
    expect(stderr).toContain('+   uses: index')
    expect(stderr).toContain('  - name: build')
    expect(await readFile(join(path, '_workflows', 'hello.yaml'), 'utf8')).toBe(mine)
    expect((await run(['init'])).stdout).toContain('unchanged millrace.config.yaml')
  })
})
