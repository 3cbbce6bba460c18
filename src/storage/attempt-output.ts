import type { OutputWriter, OutputWriterOptions } from './output.ts'
import { createOutputWriter } from './write.ts'

/** The output of one attempt of a task, as whoever performs it writes it. */
export type AttemptOutput = {
  readonly write: OutputWriter['write']
  close(): Promise<void>
  /** To be called in the end, also when it was not closed. */
  leave(): void
}

type Options = Omit<OutputWriterOptions, 'signal'> & {
  /** Of the attempt. Once its lease is lost nobody wants what is not stored yet. */
  readonly signal: AbortSignal
  /** Aborts when what is not stored yet is not waited for any longer. */
  readonly givenUp?: AbortSignal | undefined
}

/** The writer is made when something is written: most commands say nothing, and then nothing is stored. */
export function createAttemptOutput({ signal, givenUp, ...options }: Options): AttemptOutput {
  let writer: OutputWriter | undefined
  const unwanted = new AbortController()
  const drop = () => unwanted.abort()
  signal.addEventListener('abort', () => {
    if ((signal.reason as { code?: unknown } | undefined)?.code === 'lease_lost') drop()
  })
  givenUp?.addEventListener('abort', drop)
  if (givenUp?.aborted) drop()
  return {
    write(stream, bytes) {
      writer ??= createOutputWriter({ ...options, signal: unwanted.signal })
      return writer.write(stream, bytes)
    },
    async close() {
      await writer?.close()
    },
    leave: () => givenUp?.removeEventListener('abort', drop),
  }
}
