// What happens in the demonstration. How far it is, the repository and the server know: one that was killed goes on
// where it was.
import { rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, Server } from '../context.ts'
import { chapter, firstFiles } from './book.ts'
import type { DemoRepository } from './repository.ts'
import { type DemoTask, isOver, Teller } from './teller.ts'

export type Stage = {
  readonly context: Context
  readonly server: Server
  readonly repository: DemoRepository
  readonly archive: string
  /** A file that is there while the printer is on. */
  readonly printer: string
}

const isDone = (name: string) => (tasks: readonly DemoTask[]) =>
  tasks.some((task) => task.name === name && task.state === 'succeeded')

const PICTURES = 20
const WHEEL = 'The wheel turns because the water must go on.'

export async function play(stage: Stage): Promise<void> {
  const teller = new Teller(stage.context, stage.server, stage.archive)
  const begun = await stage.repository.youngest()
  if (begun > 0) {
    teller.say(`The story had come to revision ${begun}; it goes on from there.`)
    await teller.catchUp(Array.from({ length: begun }, (_, i) => i + 1))
  }
  await firstRevision(stage, teller)
  await shuffledHooks(stage, teller)
  await failureAndMending(stage, teller)
  await releaseByHand(stage, teller)
}

async function firstRevision({ repository, printer }: Stage, teller: Teller): Promise<void> {
  if ((await repository.youngest()) < 1) {
    teller.say('A miller commits a book, and with it three workflows that say what is to be done after every commit.')
    await writeFile(printer, '')
    await repository.commit('the first draft', firstFiles(printer), ['chapters', '_workflows'])
  }
  await teller.until('the first revision', [1], isDone('ship'))
}

async function shuffledHooks({ context, server, repository, archive }: Stage, teller: Teller): Promise<void> {
  const youngest = await repository.youngest()
  if (youngest < 2) {
    teller.say(`Revision 2 brings ${PICTURES} pictures, so that its PDF takes long. Its hook is held up on the way.`)
    const wheel = { 'chapters/2-wheel.ms': chapter('The wheel', [WHEEL], PICTURES) }
    await repository.withoutHook(() => repository.commit('pictures of wheels', wheel))
  }
  if (youngest < 3) {
    teller.say('Revision 3 takes most of them out again. Its hook comes first: revision 3 is announced before 2.')
    const wheel = { 'chapters/2-wheel.ms': chapter('The wheel', [WHEEL], 1) }
    await repository.commit('one picture is enough', wheel)
    await teller.until('planning what was announced', [2, 3], (tasks) => tasks.some(({ name }) => name === 'build-PDF'))
    const { client, routes } = server
    const asked = { params: { name: archive }, body: { rev: 2 } }
    const { known } = await client.call(routes.archives.commit, asked, { signal: context.signal })
    teller.say(
      known
        ? 'Now the hook of revision 2 arrives. The server knew: it had read the repository, and planned 2 before 3.'
        : 'Now the hook of revision 2 arrives.',
    )
  }
  await teller.until('the PDF of revision 3', [2, 3], isPDFOf(3))
  await teller.until('the end of revision 3', [2, 3], (tasks) => tasks.every(isOver))
}

const isPDFOf = (rev: number) => (tasks: readonly DemoTask[]) =>
  tasks.some(({ name, key, state }) => name === 'build-PDF' && key.includes(`@${rev}:`) && state === 'succeeded')

async function failureAndMending(stage: Stage, teller: Teller): Promise<void> {
  const { context, server, repository, archive, printer } = stage
  if ((await repository.youngest()) < 4) {
    teller.say('Somebody switches the printer off, and revision 4 arrives.')
    await rm(printer, { force: true })
    await repository.commit('a third chapter', { 'chapters/3-stones.ms': chapter('Stones', ['Stones grind.']) })
  }
  let hasFailed = false
  await teller.until('the end of printing', [4], (tasks) => {
    hasFailed = tasks.some(({ name, state }) => name === 'print' && state === 'failed')
    return hasFailed || isDone('print')(tasks)
  })
  if (hasFailed) {
    teller.say('The printer is switched on again, and what failed is asked for again: what had been skipped follows.')
    await writeFile(printer, '')
    const { client, routes } = server
    const asked = { params: { name: archive, rev: '4' }, body: { only: 'failed', cause: 'the printer is on' } } as const
    await client.call(routes.runs.rerun, asked, { signal: context.signal })
  }
  await teller.until('shipping', [4], isDone('ship'))
}

async function releaseByHand({ context, server, archive }: Stage, teller: Teller): Promise<void> {
  const { client, routes } = server
  const body = { workflow: 'release', rev: 4, inputs: { edition: 'final' } }
  // However often the demonstration is started, it is one run.
  const options = { signal: context.signal, idempotencyKey: 'the-final-edition-of-the-demonstration' }
  const { tasks } = await client.call(routes.runs.create, { params: { name: archive }, body }, options)
  const ids = new Set(tasks.map(({ id }) => id))
  teller.say('The final edition is released by hand, with an input.')
  await teller.until('the release', [4], (all) => all.filter(({ id }) => ids.has(id)).every(isOver))
}

/** Commits go on, now and then, until somebody has seen enough. */
export async function goOn({ context, server, repository, archive }: Stage, everyMs: number): Promise<void> {
  const teller = new Teller(context, server, archive)
  for (;;) {
    await sleep(everyMs, undefined, { signal: context.signal })
    const rev = (await repository.youngest()) + 1
    const sentences = Array.from({ length: rev - 3 }, (_, i) => `Day ${i + 1}: the stones grind.`)
    await repository.commit(`another day, ${rev}`, { 'chapters/3-stones.ms': chapter('Stones', sentences) })
    await teller.until(`the end of revision ${rev}`, [rev], (tasks) => tasks.length > 0 && tasks.every(isOver))
  }
}
