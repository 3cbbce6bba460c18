import { lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { scratch } from '../../test/scratch.ts'
import { createLinePipe, writeCopy } from './database-copy.ts'

test('the draft of a copy follows no link and takes over no file that lies there', async () => {
  const { path: folder } = await scratch()
  const [file, theirs] = [join(folder, 'copy.gz'), join(folder, 'theirs')]
  await writeFile(theirs, 'untouched', { mode: 0o644 })
  await symlink(theirs, `${file}.part`)
  await writeCopy(file, (take) => take('a line'))
  expect(await readFile(theirs, 'utf8')).toBe('untouched')
  expect((await lstat(file)).isSymbolicLink()).toBe(false)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(gunzipSync(await readFile(file)).toString()).toBe('a line\n')
  // Whatever the moment: the draft may not even be there yet.
  const breakOff = () => writeCopy(file, () => Promise.reject(new Error('broken off')))
  const broken = await Promise.allSettled(Array.from({ length: 100 }, breakOff))
  for (const one of broken) expect(one).toMatchObject({ status: 'rejected', reason: { message: 'broken off' } })
  expect((await readdir(folder)).sort()).toEqual(['copy.gz', 'copy.gz.part', 'theirs'])
})

test('a pipe that fails tells whoever writes', async () => {
  const pipe = createLinePipe()
  await pipe.take('a line')
  pipe.fail(new Error('there is no such database'))
  // Nobody takes or reads when the failure is told.
  await setImmediate()
  await expect(pipe.take('another')).rejects.toThrow('there is no such database')
})

test('who waits for room is told when nobody reads any more', async () => {
  const pipe = createLinePipe()
  const filling = (async () => {
    for (;;) await pipe.take('a line')
  })()
  filling.catch(() => {})
  for await (const line of pipe.lines) {
    expect(line).toBe('a line')
    break
  }
  await expect(filling).rejects.toThrow()
})
