// A server's worth of running commands in a process of its own, to be killed. Starts each command it is given, says
// `up` when all of them have said something, and then waits.
import { createProcessRunner } from '../../src/runners/index.ts'

export type RunnerProgramSettings = {
  readonly scripts: readonly string[]
  readonly prefix: string
  readonly graceMs: number
}

const settings = JSON.parse(process.argv[2] ?? '') as RunnerProgramSettings
const runner = createProcessRunner()
const heard = new Set<number>()
for (const [i, script] of settings.scripts.entries()) {
  const command = {
    script,
    marker: `${settings.prefix}${i}.1`,
    env: { PATH: '/usr/bin:/bin' },
    graceMs: settings.graceMs,
  }
  const sink = (_stream: string, bytes: Buffer) => {
    heard.add(i)
    process.stdout.write(`${i}: ${bytes.toString()}`)
    if (heard.size === settings.scripts.length) process.stdout.write('up\n')
  }
  const running = await runner.start(command, { sink })
  void running.ended.then((ending) => process.stdout.write(`ended ${i} ${JSON.stringify(ending)}\n`))
}
setInterval(() => {}, 60_000)
