// A server in a process of its own, to be killed or cut off.
import { type Program, runProgram } from '../program.ts'
import { ADMIN } from '../server.ts'

const READY = /^millrace listening on /

export type ServerProcess = { readonly program: Program; readonly url: string }

/** Starts `millrace serve` and waits until it takes requests. */
export async function startServer(
  at: { readonly databaseUrl: string; readonly data: string },
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const program = runProgram('src/bin.ts', {
    args: ['serve'],
    env: {
      MILLRACE_PORT: '0',
      MILLRACE_LOG_LEVEL: 'error',
      MILLRACE_DATA: at.data,
      MILLRACE_DATABASE_URL: at.databaseUrl,
      MILLRACE_ADMIN_TOKEN: ADMIN,
      MILLRACE_GRACE_SECONDS: '1',
      MILLRACE_DRAIN_SECONDS: '1',
      ...env,
    },
  })
  return { program, url: (await program.line(READY)).replace(READY, '') }
}
