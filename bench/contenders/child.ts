// A measured process: does one operation of one contender, told in its arguments, and sends the result
// to its parent together with its own peak memory.
import { readFileSync } from 'node:fs'
import type { Contender, Operation } from './contender.ts'

// Loaded one at a time, so that no contender's modules weigh on another's memory.
const contenders: Record<string, (url: string) => Promise<Contender>> = {
  graphile: async (url) => (await import('./graphile.ts')).graphile(url),
  'pg-boss': async (url) => (await import('./pg-boss.ts')).pgBoss(url),
  bullmq: async (url) => (await import('./bullmq.ts')).bullmq(url),
  'dbos-workflows': async (url) => (await import('./dbos.ts')).dbos(url, 'workflows'),
  'dbos-steps': async (url) => (await import('./dbos.ts')).dbos(url, 'steps'),
  millrace: async (url) => (await import('./millrace.ts')).millrace(url),
}

function peakMegabytes(): number | null {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return kilobytes ? Number(kilobytes) / 1024 : null
  } catch {
    return null // not Linux
  }
}

const [name = '', url = '', operation = '', argument = 'null'] = process.argv.slice(2)
const open = contenders[name]
if (!open) throw new Error(`no contender is called ${name}`)

process.once('disconnect', () => process.exit(1)) // the bench was interrupted

const contender = await open(url)
const perform = contender[operation as Operation] as ((argument: unknown) => Promise<unknown>) | undefined
if (!perform) throw new Error(`${name} has no ${operation}`)

const value = await perform(JSON.parse(argument))
const peakMb = peakMegabytes()
await contender.close()
await new Promise((resolve) => process.send?.({ value, peakMb }, resolve))
process.exit(0)
