// Secrets that tasks are given. Their values go in and never come out.
import { z } from 'zod'
import { route } from './route.ts'
import { cursor, limit, pageOf, storable, time } from './shapes.ts'

const name = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be letters, digits and "_", and not begin with a digit')
const archive = storable(z.string().min(1).max(400))

const secret = z
  .object({
    name: z.string(),
    archive: z.string().nullable().describe('null: for every archive'),
    version: z.int(),
    created_at: time,
    created_by: z.string(),
    changed_at: time,
    changed_by: z.string(),
  })
  .meta({ id: 'Secret' })

const body = z.strictObject({
  value: z
    .string()
    .max(65_536)
    .refine((text) => !text.includes('\u0000'), { message: 'contains U+0000, which no program can be given' }),
})
const query = z.strictObject({ limit: limit(1000, 100), cursor: cursor.optional() })

export const secrets = {
  list: route({
    method: 'GET',
    path: '/v1/secrets',
    name: 'secrets.list',
    summary: 'All secrets, the oldest first, without their values',
    access: { role: 'operator' },
    query,
    answers: { 200: pageOf(secret) },
  }),
  set: route({
    method: 'PUT',
    path: '/v1/secrets/{name}',
    name: 'secrets.set',
    summary: 'Set a secret for every archive',
    access: { role: 'admin' },
    params: z.strictObject({ name }),
    body,
    isVersioned: true,
    answers: { 200: secret },
  }),
  remove: route({
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    name: 'secrets.remove',
    summary: 'Remove a secret of every archive',
    access: { role: 'admin' },
    params: z.strictObject({ name }),
    isVersioned: true,
    answers: { 204: 'empty' },
  }),
  listOf: route({
    method: 'GET',
    path: '/v1/archives/{archive}/secrets',
    name: 'secrets.list_of_archive',
    summary: 'The secrets that tasks of an archive can have: its own and those for every archive',
    access: { role: 'operator' },
    params: z.strictObject({ archive }),
    query,
    answers: { 200: pageOf(secret) },
  }),
  setOf: route({
    method: 'PUT',
    path: '/v1/archives/{archive}/secrets/{name}',
    name: 'secrets.set_of_archive',
    summary: 'Set a secret of one archive, which is meant before one for all',
    access: { role: 'admin' },
    params: z.strictObject({ archive, name }),
    body,
    isVersioned: true,
    answers: { 200: secret },
  }),
  removeOf: route({
    method: 'DELETE',
    path: '/v1/archives/{archive}/secrets/{name}',
    name: 'secrets.remove_of_archive',
    summary: 'Remove a secret of one archive',
    access: { role: 'admin' },
    params: z.strictObject({ archive, name }),
    isVersioned: true,
    answers: { 204: 'empty' },
  }),
}
