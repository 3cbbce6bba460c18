import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findBlock } from './hook-file.ts'
import { type InstalledHook, listInstalled } from './list-installed.ts'
import { check, flush } from './notifier.ts'
import { findRepository, type HookedRepository, type Place } from './repository.ts'

/** What is the matter with the hook of an archive; `fix` is null where nothing is. */
export type HookFinding = {
  readonly state: 'good' | 'warning' | 'bad' | 'unknown'
  readonly evidence: string
  readonly fix: string | null
}

/** Looks at the hook of an archive whose repository is on this host, and sends what waited to be sent. */
export async function examineHook(place: Place, archive: string): Promise<HookFinding> {
  const reinstall = `millrace hook install --${place.kind} ${place.path} --archive ${archive}`
  try {
    const repository = await findRepository(place)
    const missing = await findMissing(repository)
    const installed = (await listInstalled(repository)).find((one) => one.archive === archive)
    if (missing === undefined && installed !== undefined)
      return await examineInstalled(repository, installed, reinstall)
    const evidence = missing ?? `${repository.path} does not announce to ${archive}`
    return { state: 'warning', evidence: `${evidence}: commits are noticed by looking only`, fix: reinstall }
  } catch (error) {
    const { message, remedy } = error as Error & { remedy?: string }
    return {
      state: 'unknown',
      evidence: message,
      fix: remedy ?? 'look at it as the user to whom the repository belongs',
    }
  }
}

async function findMissing({ hooksDir, hooks }: HookedRepository): Promise<string | undefined> {
  for (const name of hooks) {
    const file = join(hooksDir, name)
    const text = await readFile(file, 'latin1').catch(() => '')
    if (findBlock(text) === undefined) return `${file} does not announce`
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!isExecutable) return `${file} is not executable`
  }
  return undefined
}

async function examineInstalled(
  repository: HookedRepository,
  { folder, isCopy, spooled, tokenMode, last }: InstalledHook,
  reinstall: string,
): Promise<HookFinding> {
  if (isCopy) {
    const evidence = `${repository.path} was copied from elsewhere with its hook, and announces nothing`
    return { state: 'warning', evidence, fix: reinstall }
  }
  const { status, sender } = await check(folder, repository.owner)
  if (status !== 200) {
    const evidence = `${repository.path}, in the environment of a hook: ${answerInWords(status, sender)}`
    return { state: status === 0 ? 'warning' : 'bad', evidence, fix: status === 0 ? 'start the server' : reinstall }
  }
  if ((tokenMode & 0o007) !== 0) {
    return { state: 'bad', evidence: `everybody can read ${join(folder, 'token')}`, fix: reinstall }
  }
  const { sent, left } = spooled > 0 ? await flush(folder, repository.owner) : { sent: 0, left: 0 }
  const when = last === undefined ? 'nothing announced yet' : `last announced ${last.at}`
  const waited = sent > 0 ? `; ${sent} that had waited were sent now` : ''
  const evidence = `${repository.path} announces by ${sender}, ${when}${waited}`
  if (left === 0) return { state: 'good', evidence, fix: null }
  return {
    state: 'warning',
    evidence: `${evidence}; ${left} wait to be sent`,
    fix: `millrace hook test --${repository.kind} ${repository.path}`,
  }
}

/** What the server's answer to a notice, or to the question who the token is, means. */
export function answerInWords(status: number, sender: string): string {
  if (sender === 'nothing') return 'there is nothing that could send: install curl'
  if (status === 0) return `no server answered (asked by ${sender})`
  if (status === 401) return 'the server does not know the token: it was revoked or has expired'
  if (status === 403) return 'the token may not announce to this archive'
  if (status === 404) return 'the server has no archive of that name'
  if (status >= 200 && status < 300) return `the server took it (sent by ${sender})`
  return `the server answered ${status} (asked by ${sender})`
}
