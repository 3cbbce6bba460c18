// Files that tasks have left behind.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, limit, pageOf, storable, time } from './shapes.ts'
import { taskRef } from './tasks.ts'

const artifact = z
  .object({
    path: z.string(),
    size: z.int(),
    sha256: z.string().describe('of the content, as hexadecimal digits'),
    executable: z.boolean(),
    created_at: time,
  })
  .meta({ id: 'Artifact' })

const access = { role: 'viewer', limits: ['task'] } as const

export const artifacts = {
  list: route({
    method: 'GET',
    path: '/v1/tasks/{id}/artifacts',
    name: 'artifacts.list',
    summary: 'The files that the last success of a task has left behind, by path',
    access,
    params: z.strictObject({ id: taskRef }),
    query: z.strictObject({ limit: limit(1000, 100), cursor: cursor.optional() }),
    answers: { 200: pageOf(artifact) },
  }),
  get: route({
    method: 'GET',
    path: '/v1/tasks/{id}/artifacts/{path}',
    name: 'artifacts.get',
    summary: 'The content of such a file, or a part of it',
    description:
      'Slashes of the path are encoded. The ETag is the digest of the content, which is also in `Repr-Digest`; `Range` asks for a part.',
    access,
    params: z.strictObject({ id: taskRef, path: storable(z.string().min(1).max(4000)) }),
    isVersioned: true,
    answers: { 200: 'application/octet-stream', 206: 'application/octet-stream' },
  }),
}
