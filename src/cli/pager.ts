// Long texts on a terminal are shown by the program that the person has chosen for it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readTerminal } from '../config/index.ts'
import type { Context } from './context.ts'

export type Pager = {
  /** False: the person has seen enough. */
  write(bytes: Uint8Array): Promise<boolean>
  /** Waits until the person is done; false when there was no such program, and nothing was shown. */
  end(): Promise<boolean>
}

/** Starts the pager; undefined where there is no terminal, no pager, or none is wanted. */
export async function openPager({ world, output }: Context): Promise<Pager | undefined> {
  const { pager } = readTerminal(world.environment)
  // It writes to the terminal of the process itself.
  if (!output.isLive || world.stdout !== process.stdout || pager === '' || pager === 'cat') return undefined
  // Without being told otherwise it ends by itself when everything fits, keeps colours and leaves the text there.
  const [program, args] = pager === undefined ? ['less', ['-FRX']] : ['sh', ['-c', pager]]
  const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'] })
  const isStarted = await new Promise<boolean>((resolve) => {
    child.once('spawn', () => resolve(true))
    child.once('error', () => resolve(false))
  })
  if (!isStarted) return undefined
  const ended = once(child, 'close')
  let isOpen = true
  child.stdin.on('error', () => {
    isOpen = false
  })
  return {
    async write(bytes) {
      if (isOpen && !child.stdin.write(bytes)) await Promise.race([once(child.stdin, 'drain').catch(() => {}), ended])
      return isOpen && child.exitCode === null
    },
    async end() {
      child.stdin.end()
      await ended
      // What the shell says of a program that is not there, or cannot be run.
      return child.exitCode !== 127 && child.exitCode !== 126
    },
  }
}
