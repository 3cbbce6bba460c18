// The index of an archive: its files at any indexed revision, and what is written in them.
import { z } from 'zod'
import { route } from './route.ts'
import { limit, storable } from './shapes.ts'

const LONGEST_PATH = 4096

const item = z
  .object({
    path: z.string(),
    kind: z.enum(['file', 'link', 'submodule', 'folder']).describe('links of Subversion are files there too'),
    size: z.int().nullable().describe('in bytes; null: a folder or a submodule'),
    sha256: z.string().nullable().describe('of all bytes, in hexadecimal'),
    last_changed: z
      .int()
      .nullable()
      .describe('the revision that changed it last; null: a folder, or a commit that is no revision'),
    properties: z
      .record(z.string(), z.string())
      .nullable()
      .describe('of Subversion as they are, of git its mode; null: a folder'),
    snippet: z
      .object({ line: z.int(), text: z.string() })
      .nullable()
      .describe('the first line with a word that was searched; null: none was, or they are in the path'),
  })
  .meta({ id: 'IndexedFile' })

export const archiveIndex = {
  read: route({
    method: 'GET',
    path: '/v1/archives/{name}/index',
    name: 'archives.read_index',
    summary: 'Files of an archive at an indexed revision: in a folder, one, or those with the words',
    description:
      'Without `rev`, the youngest indexed revision; a page and those after it are of the same one. A revision that is not indexed is refused with 409, and the remedy names the nearest that are. Items are ordered by the bytes of their paths, a folder as if its path ended with a slash.',
    access: { role: 'viewer' },
    params: z.strictObject({ name: z.string().min(1).max(400) }),
    query: z.strictObject({
      rev: z
        .string()
        .regex(/^(\d{1,15}|[0-9a-f]{40})$/, 'must be the number of a revision or the id of a commit')
        .optional()
        .describe('the number of a revision; of git also the commit'),
      path: storable(z.string().max(LONGEST_PATH))
        .optional()
        .describe('a file, or a folder whose contents are listed or searched; the top when it is left out'),
      q: storable(z.string().min(1).max(1000))
        .optional()
        .describe('words that are all in the path of a file or all in its text; `word*` is how one begins'),
      recursive: z
        .enum(['0', '1'])
        .transform((value) => value === '1')
        .optional()
        .describe('1: all files below the folder, not only what lies in it'),
      limit: limit(500, 100),
      cursor: z
        .string()
        .min(1)
        .max(6000) // it holds a path
        .regex(/^[\w-]+$/, 'is not a cursor that this server gave')
        .optional()
        .describe('the next_cursor of the page before; tied to the same filters'),
    }),
    answers: {
      200: z.object({
        archive: z.string(),
        rev: z.object({ number: z.int(), id: z.string() }).describe('the revision that was read'),
        file_count: z.int().describe('of all files in it'),
        items: z.array(item),
        next_cursor: z.string().nullable(),
      }),
    },
  }),
}
