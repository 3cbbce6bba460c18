// Repositories with hooks.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { findRepository, install, type Place } from '../src/hooks/index.ts'
import { say } from './repositories/ground.ts'
import { scratch } from './scratch.ts'

/** A folder in which hooks work: what they leave to go on in the background may still write there in the end. */
export async function hookedGround(): Promise<string> {
  const { path } = await scratch()
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 20 }))
  return path
}

/** A Subversion repository in a folder of this name. */
export async function anSvnRepository(name = 'repo') {
  const path = join(await hookedGround(), name)
  await say('svnadmin', ['create', path])
  const url = pathToFileURL(path).href
  let count = 0
  return {
    path,
    url,
    /** Makes the next revision; answers what `svn` said. */
    commit: (folder = `folder-${++count}`) => say('svn', ['mkdir', '--quiet', '-m', 'a folder', `${url}/${folder}@`]),
  }
}

export type InstallAsked = {
  readonly archive?: string
  readonly branch?: string
  readonly url: string
}

export async function installAt(place: Place, { archive = 'Book', branch, url }: InstallAsked) {
  const repository = await findRepository(place)
  const asked = { archive, url, branch: branch ?? repository.branch, token: 'mr_of-the-hook', tokenId: '7' }
  return { repository, ...(await install(repository, asked)) }
}
