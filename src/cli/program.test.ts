import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { database, emptyDatabase } from '../../test/database.ts'
import { runProgram } from '../../test/program.ts'
import { scratch } from '../../test/scratch.ts'
import { createProgram } from './program.ts'

async function millrace(args: string[], env: Record<string, string> = {}) {
  await using program = runProgram('src/bin.ts', { args, env })
  const exitCode = await program.exitCode
  return { exitCode, stdout: program.stdout(), stderr: program.stderr() }
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

describe('help', () => {
  test.each(
    leaves(createProgram(() => Promise.reject(new Error('help needs no host')))).map(
      (command) => [pathOf(command), command] as const,
    ),
  )('%s shows two examples whose flags it takes', (path, command) => {
    const examples = helpOf(command).split('Examples:')[1]?.trim().split('\n') ?? []
    expect(examples).toHaveLength(2)
    const known = command.options.map((option) => option.long)
    for (const example of examples) {
      expect(example).toContain(path)
      for (const [flag] of example.matchAll(/--[a-z-]+/g)) expect(known).toContain(flag)
    }
  })

  test('a mistyped command gets the nearest one and exit code 2', async () => {
    const { exitCode, stderr } = await millrace(['srve'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Did you mean serve?')
  })
})

test('a command that does not run Millrace here loads neither the driver nor the server', async () => {
  await using folder = await scratch()
  await millrace(['--help'], { NODE_V8_COVERAGE: folder.path }) // lists every script that was loaded
  const reports = await Promise.all(
    (await readdir(folder.path)).map((name) => readFile(join(folder.path, name), 'utf8')),
  )
  const packages = new Set(
    reports.flatMap((report) => [...report.matchAll(/node_modules\/([\w-]+)\//g)].map(([, name]) => name)),
  )
  expect(packages).toContain('commander')
  for (const heavy of ['pg', 'fastify', 'pino', 'zod', 'yaml']) expect(packages).not.toContain(heavy)
})

describe('version', () => {
  test('is JSON when asked', async () => {
    const { stdout } = await millrace(['version', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
    })
  })
})

describe('config explain', () => {
  test('shows each setting with its source and no secret', async () => {
    const { stdout } = await millrace(['config', 'explain'], { MILLRACE_ADMIN_TOKEN: 'very-secret-token-1' })
    expect(stdout).toMatch(/^port +7420 {2}\(default\)$/m)
    expect(stdout).toMatch(/^admin_token +\(set, not shown\) {2}\(MILLRACE_ADMIN_TOKEN\)$/m)
  })
})

describe('migrate', () => {
  test('status of a current database has nothing pending', async () => {
    await using db = await database()
    const { stdout } = await millrace(['migrate', 'status', '--json'], { DATABASE_URL: db.databaseUrl })
    expect(JSON.parse(stdout)).toMatchObject({ pending: [], functions_current: true })
  })

  test('up fills an empty database, and does nothing the second time', async () => {
    await using db = await emptyDatabase()
    const up = () => millrace(['migrate', 'up', '--json', '--database-url', db.databaseUrl])
    const first = JSON.parse((await up()).stdout) as { applied: string[] }
    expect(first.applied.length).toBeGreaterThan(1)
    expect(JSON.parse((await up()).stdout)).toEqual({ applied: [] })
  })

  test('the printed script makes the schema that status calls current', async () => {
    await using db = await emptyDatabase()
    const { stdout } = await millrace(['migrate', 'sql'])
    const client = new pg.Client(db.databaseUrl)
    await client.connect()
    await client.query(stdout)
    await client.end()
    const status = await millrace(['migrate', 'status', '--json'], { DATABASE_URL: db.databaseUrl })
    expect(JSON.parse(status.stdout)).toMatchObject({ pending: [], functions_current: true })
  })
})
