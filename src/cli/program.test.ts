import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { begin } from '../../test/command-line.ts'
import { database, emptyDatabase } from '../../test/database.ts'
import { runProgram } from '../../test/program.ts'
import { scratch } from '../../test/scratch.ts'
import { settings } from '../config/index.ts'
import { outputFlags } from './command.ts'
import { exitCodes, exitMeanings } from './exit.ts'
import { createProgram, loadAll } from './program.ts'
import { topics } from './topics.ts'

async function millrace(args: string[], env: Record<string, string> = {}) {
  await using program = runProgram('src/bin.ts', { args, env })
  const exitCode = await program.exitCode
  return { exitCode, stdout: program.stdout(), stderr: program.stderr() }
}

const nobody = async () => {}

async function wholeProgram(): Promise<Command> {
  const program = createProgram(nobody)
  await loadAll(program, nobody)
  return program
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}`.trim() : command.name()

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

const program = await wholeProgram()
const commands = leaves(program).map((command) => [pathOf(command), command] as const)
const longOf = (options: readonly { long?: string | null }[]) => options.flatMap(({ long }) => long ?? [])
// Every command has these because of what it prints, and the settings of `serve` and its like are many.
const fromSettings: readonly string[] = settings.flatMap((setting) => ('flag' in setting ? setting.flag : []))
const unspoken = [...Object.values(outputFlags).flat(), '--json-fields']

describe('help', () => {
  test.each(commands)('%s shows two examples whose flags it takes', (path, command) => {
    const examples = helpOf(command).split('Examples:')[1]?.trim().split('\n') ?? []
    expect(examples).toHaveLength(2)
    const known = longOf([...command.options, ...program.options])
    for (const example of examples) {
      // `worker` alone means `worker run`.
      expect(example).toContain(path.replace(/^millrace worker run$/, 'millrace worker'))
      // What stands after -- belongs to another program.
      for (const [flag] of (example.split(' -- ')[0] ?? '').matchAll(/--[a-z-]+/g)) expect(known).toContain(flag)
    }
  })

  test.each(commands)('%s names in its usage the options and arguments that it takes', (_, command) => {
    const usage = command.usage()
    const named = [...usage.matchAll(/--?[a-z][a-z-]*/g)].map(([flag]) => flag)
    const shorts = command.options.flatMap(({ short, long }) => (short ? [[short, long ?? ''] as const] : []))
    const longs = named.map((flag) => shorts.find(([short]) => short === flag)?.[1] ?? flag)
    const own = command.options.filter(({ flags }) => !fromSettings.includes(flags))
    const taken = longOf(own).filter((flag) => !unspoken.includes(flag))
    expect(longs.toSorted()).toEqual(taken.toSorted())
    const args = [...usage.replaceAll(/\[-.*?\]|--[a-z-]+ [A-Z]+/g, '').matchAll(/[A-Z]{2,}/g)]
    expect(args).toHaveLength(command.registeredArguments.length)
  })

  test('a server takes every setting that the guide gives a flag for', () => {
    const [, serve] = commands.find(([path]) => path === 'millrace serve') ?? []
    const taken = longOf([...(serve?.options ?? []), ...program.options])
    expect(taken).toEqual(expect.arrayContaining(fromSettings.map((flag) => flag.split(' ')[0])))
  })

  test('every command prints JSON when asked', () => {
    for (const [path, command] of commands) expect(longOf(command.options), path).toContain('--json')
  })

  test('the demonstration tells the defaults that it has, and no other', () => {
    const [, demo] = commands.find(([path]) => path === 'millrace demo') ?? []
    const help = demo === undefined ? '' : helpOf(demo).replaceAll(/\s+/g, ' ')
    expect(help).toContain('(default: 7421, or any that is free)')
    expect(help).toContain('(default: a folder of yours among the temporary files)')
    expect(help).toContain('(default: 20s)')
    expect(help).not.toMatch(/7420|default: .millrace|20000/)
  })

  test('a mistyped command gets the nearest one and exit code 2', async () => {
    const { exitCode, stderr } = await begin(['srve'])
    expect(exitCode).toBe(2)
    expect(stderr).toBe(
      "millrace: unknown command 'srve'\nto fix it: did you mean serve? `millrace --help` shows what it takes\n",
    )
  })

  test('of a command is had in three ways', async () => {
    const { stdout } = await begin(['node', 'add', '--help'])
    expect(stdout).toContain('--run-if')
    expect((await begin(['help', 'node', 'add'])).stdout).toBe(stdout)
    expect((await begin(['--color', 'never', 'help', 'node', 'add'])).stdout).toBe(stdout)
  })

  test.each(topics.map(({ name, about }) => [name, about]))(
    '%s is a topic, which the help of all names',
    async (name, about) => {
      const { exitCode, stdout } = await begin(['help', name])
      expect(exitCode).toBe(0)
      expect(stdout).toContain(about)
      expect((await begin(['--help'])).stdout).toMatch(new RegExp(`^  ${name} +${about.slice(0, 10)}`, 'm'))
    },
  )

  test('the topic of the exit codes has all of them', async () => {
    const { stdout } = await begin(['help', 'exit-codes'])
    for (const name of Object.keys(exitCodes) as (keyof typeof exitCodes)[]) {
      expect(stdout).toMatch(new RegExp(`^ +${exitCodes[name]}  ${exitMeanings[name].replace(/[()]/g, '.')}$`, 'm'))
    }
  })

  test('of what is neither a command nor a topic is refused, with the nearest', async () => {
    const near = await begin(['help', 'exitcodes'])
    expect(near.exitCode).toBe(2)
    expect(near.stderr).toContain('did you mean exit-codes?')
    expect((await begin(['help', 'something-else-altogether'])).stderr).not.toContain('did you mean')
  })

  test('nothing at all is answered with all commands and exit code 2', async () => {
    const { exitCode, stderr } = await begin([])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Usage: millrace COMMAND')
  })
})

/** The packages of which a command loads anything. */
async function packagesLoadedBy(args: string[]): Promise<Set<string | undefined>> {
  await using folder = await scratch()
  await millrace(args, { NODE_V8_COVERAGE: folder.path }) // lists every script that was loaded
  const reports = await Promise.all(
    (await readdir(folder.path)).map((name) => readFile(join(folder.path, name), 'utf8')),
  )
  return new Set(reports.flatMap((report) => [...report.matchAll(/node_modules\/([\w-]+)\//g)].map(([, name]) => name)))
}

test.each([[['--help']], [['version']]])('%j loads neither the contract, the driver nor the server', async (args) => {
  const packages = await packagesLoadedBy(args)
  expect(packages).toContain('commander')
  for (const heavy of ['pg', 'fastify', 'pino', 'zod', 'yaml', 'string-width']) expect(packages).not.toContain(heavy)
})

test('what looks at workflow files loads neither the driver nor the server', async () => {
  const packages = await packagesLoadedBy(['workflow', 'lint', 'src/archives/definition/corpus/good/design.yaml'])
  expect(packages).toContain('yaml')
  for (const heavy of ['pg', 'fastify', 'pino']) expect(packages).not.toContain(heavy)
})

describe('version', () => {
  test('is JSON when asked', async () => {
    const { stdout } = await begin(['version', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
    })
  })
})

describe('config explain', () => {
  test('shows each setting with its source and no secret', async () => {
    const env = { MILLRACE_ADMIN_TOKEN: 'very-secret-token-1' }
    const { stdout } = await begin(['config', 'explain'], { env })
    expect(stdout).toMatch(/^port +7420 +default$/m)
    expect(stdout).toMatch(/^admin_token +\(set, not shown\) +MILLRACE_ADMIN_TOKEN$/m)
    const one = await begin(['config', 'explain', 'port', '--json'], { env })
    expect(JSON.parse(one.stdout)).toEqual([{ name: 'port', value: 7420, source: 'default' }])
  })
})

describe('migrate', () => {
  test('status of a current database has nothing pending', async () => {
    await using db = await database()
    const { stdout } = await begin(['migrate', 'status', '--json'], { env: { DATABASE_URL: db.databaseUrl } })
    expect(JSON.parse(stdout)).toMatchObject({ pending: [], functions_current: true })
  })

  test('up fills an empty database, and does nothing the second time', async () => {
    await using db = await emptyDatabase()
    const up = () => begin(['migrate', 'up', '--json', '--database-url', db.databaseUrl])
    const first = JSON.parse((await up()).stdout) as { applied: string[] }
    expect(first.applied.length).toBeGreaterThan(1)
    expect(JSON.parse((await up()).stdout)).toEqual({ applied: [] })
  })

  test('the printed script makes the schema that status calls current', async () => {
    await using db = await emptyDatabase()
    const { stdout } = await begin(['migrate', 'sql'])
    const client = new pg.Client(db.databaseUrl)
    await client.connect()
    await client.query(stdout)
    await client.end()
    const status = await begin(['migrate', 'status', '--json'], { env: { DATABASE_URL: db.databaseUrl } })
    expect(JSON.parse(status.stdout)).toMatchObject({ pending: [], functions_current: true })
  })
})

describe('the process', () => {
  test('ends quietly when nobody reads any more', async () => {
    await using program = runProgram('src/bin.ts', { args: ['migrate', 'sql'] })
    program.child.stdout?.destroy()
    expect(await program.exitCode).toBe(0)
    expect(program.stderr()).toBe('')
  })

  test.each([
    [['--help'], 'stdout', 0],
    [['help', 'node', 'add'], 'stdout', 0],
    [['help', 'ids'], 'stdout', 0],
    [['completion', 'bash'], 'stdout', 0],
    [['config', 'explain', '--json'], 'stdout', 0],
    [['config', 'explain', 'nosuch'], 'stderr', 2],
    [['nosuch'], 'stderr', 2],
  ] as const)('%j ends without a word when its reader has closed %s', async (args, sink, exitCode) => {
    await using program = runProgram('src/bin.ts', { args: [...args] })
    program.child[sink]?.destroy()
    expect(await program.exitCode).toBe(exitCode)
    expect(program.stderr() + (sink === 'stderr' ? program.stdout() : '')).toBe('')
  })

  test('tells an error without a stack, and with one when asked', async () => {
    const env = { MILLRACE_PORT: 'seven' }
    const plain = await begin(['config', 'explain'], { env })
    expect(plain.exitCode).toBe(2)
    expect(plain.stderr).toMatch(/^millrace: port is "seven".*\nto fix it: .*\n$/)
    const debugged = await begin(['config', 'explain', '--debug'], { env })
    expect(debugged.stderr).toMatch(/\n {4}at /)
  })

  const unreachable = ['--server', 'http://127.0.0.1:9']
  test.each([
    ['an option', ['ls', '--nosuch'], 2, /unknown option '--nosuch'/, /`millrace ls --help`/],
    ['a missing argument', ['show'], 2, /missing required argument 'id'/, /`millrace show --help`/],
    ['a value', ['ls', '--limit', 'x'], 2, /expected a whole number from 1$/, /`millrace ls --help`/],
    ['a state', ['ls', '--state', 'x'], 2, /"x" is no state/, /^states are waiting/],
    ['a topic', ['help', 'nosuch'], 2, /no command and no topic/, /^topics are/],
    ['a setting', ['config', 'get', 'prot'], 2, /prot/, /./],
    ['a colour', ['ls', '--color', 'red'], 2, /--color is red/, /^use auto/],
    ['a server', ['ls', ...unreachable], 6, /no server answers at http:\/\/127.0.0.1:9/, /millrace serve/],
    ['an input', ['run', 'a', 'b', '--input', 'x:=1'], 2, /inputs are texts/, /^write x=1$/],
    [
      'a body',
      ['api', 'POST', '/v1/x', '--body', '/nosuch/x', ...unreachable],
      1,
      /nosuch\/x: no such file/,
      /^name one/,
    ],
    ['a file', ['workflow', 'lint', 'nosuch.yaml'], 2, /nosuch\.yaml/, /./],
  ])(
    'tells what is wrong with %s in one form, and as one problem with --json',
    async (...[, args, exitCode, fact, fix]) => {
      const told = await begin(args)
      expect(told).toMatchObject({ exitCode, stdout: '' })
      const [first = '', second = '', ...rest] = told.stderr.trimEnd().split('\n')
      expect(first).toMatch(/^millrace: /)
      expect(first).toMatch(fact)
      expect(second.replace(/^to fix it: /, '')).toMatch(fix)
      expect(rest).toEqual([])
      const json = await begin([...args, '--json'])
      expect(json).toMatchObject({ exitCode, stdout: '' })
      const problem = JSON.parse(json.stderr)
      expect(problem).toMatchObject({ code: expect.any(String), title: expect.any(String) })
      expect(problem.detail).toMatch(fact)
      expect(problem.remedy).toMatch(fix)
    },
  )
})
