import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collect, type OpenOptions, openRepository, type Repository, type Revision } from '../../src/vcs/index.ts'
import { scratch } from '../scratch.ts'
import type { Plain } from './ground.ts'

export const write = async (file: string, content: string | Uint8Array = 'x\n') => {
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, content)
}

export const bytes = (text: string) => new TextEncoder().encode(text)

export const put = (path: string, text = 'x\n') => ({ type: 'put', path, content: bytes(text) }) as const

/** An opened repository with a cache of its own, in a folder whose name tries what names can do. */
export async function opened(plain: Plain, more: Partial<OpenOptions> = {}): Promise<Repository> {
  const { path } = await scratch()
  return openRepository({ ...plain.options, cacheDir: join(path, 'ca che@1%'), ...more })
}

export const paths = async (entries: AsyncIterable<{ path: string }>) =>
  (await collect(entries)).map(({ path }) => path).sort()

export const text = async (repository: Repository, path: string, revision: Revision) =>
  (await repository.read(path, revision)).toString('utf8')

export const marked = (marker: string) => ({ message: `made by ${marker}`, marker })
