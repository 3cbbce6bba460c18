// An archive whose revisions are only announced: everything but a repository.
import { waitFor } from './processes.ts'
import type { TestServer } from './server.ts'

export type PushArchive = {
  readonly name: string
  /** Announces the next revision with these workflow files, and waits until it is planned. */
  readonly commit: (files: Readonly<Record<string, string>>, message?: string) => Promise<number>
}

let names = 0

export async function aPushArchive(server: TestServer): Promise<PushArchive> {
  names += 1
  const name = `Pushed ${names}`
  const path = `/v1/archives/${encodeURIComponent(name)}`
  const made = await server.ask('PUT', path, { body: { source: { type: 'push' }, from: 1 } })
  if (made.status !== 201) throw new Error(made.text)
  let rev = 0
  return {
    name,
    async commit(files, message = 'a change') {
      rev += 1
      const all = Object.entries(files).map(([file, text]) => ({ path: `_workflows/${file}`, text }))
      const told = await server.ask('POST', `${path}/commits`, { body: { rev, files: all, message, author: 'ada' } })
      if (told.status !== 202) throw new Error(told.text)
      await waitFor(async () => ((await server.ask('GET', path)).json.planned.number >= rev ? true : undefined))
      return rev
    },
  }
}
