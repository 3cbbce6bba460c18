// Who may do what, and who did it.
import { z } from 'zod'
import { roles, route } from './route.ts'
import { cursor, id, limit, pageOf, storable, time } from './shapes.ts'

const role = z.enum(roles)
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@/-]*$/u
const name = storable(z.string().min(1).max(100).regex(NAME, 'must be letters, digits and . _ @ / - or spaces'))

const limited = z.object({
  to: z.enum(['archive', 'node', 'task']),
  name: storable(z.string().min(1).max(1000)).describe('of an archive its name; of a node or task its id'),
})
const newLimit = limited.strict().refine(({ to, name }) => to === 'archive' || id.safeParse(name).success, {
  message: 'must be the id of the node or task',
  path: ['name'],
})

const token = z
  .object({
    id,
    name: z.string(),
    role: role.nullable().describe('null: limited to one thing'),
    limit: limited.nullable(),
    created_at: time,
    created_by: z.string(),
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
    revoked_by: z.string().nullable(),
    last_used_at: time.nullable().describe('true to the minute'),
  })
  .meta({ id: 'Token' })

const newToken = z
  .strictObject({
    name: name.describe('for the record; no two tokens that work share one'),
    role: role.optional().describe('what it may do; or else give a limit'),
    limit: newLimit.optional().describe('the one thing that it is good for; it may do nothing else'),
    expires_at: time.optional().describe('default: never'),
  })
  .refine((given) => (given.role === undefined) !== (given.limit === undefined), {
    message: 'give a role or a limit, and not both',
    path: ['role'],
  })

export const tokens = {
  create: route({
    method: 'POST',
    path: '/v1/tokens',
    name: 'tokens.create',
    summary: 'Make a token; its secret is shown in this answer and never again',
    access: { role: 'admin' },
    body: newToken,
    isCreating: true,
    answers: {
      201: token.extend({
        secret: z.string().nullable().describe('null: this answer is a repetition, and the first one had it'),
      }),
    },
  }),
  list: route({
    method: 'GET',
    path: '/v1/tokens',
    name: 'tokens.list',
    summary: 'Tokens, the newest first, revoked ones too',
    access: { role: 'admin' },
    query: z.strictObject({ limit: limit(500, 100), cursor: cursor.optional() }),
    answers: { 200: pageOf(token) },
  }),
  revoke: route({
    method: 'DELETE',
    path: '/v1/tokens/{id}',
    name: 'tokens.revoke',
    summary: 'End a token, and the sessions that came from it, at once on every server',
    access: { role: 'admin' },
    params: z.strictObject({ id }),
    answers: { 204: 'empty' },
  }),
}

const me = z.object({
  name: z.string(),
  role: role.nullable(),
  limit: limited.nullable(),
  via: z.enum(['token', 'session']),
  until: time.nullable().describe('when the session ends'),
})

export const session = {
  signIn: route({
    method: 'POST',
    path: '/v1/sign-in',
    name: 'session.sign_in',
    summary: 'Open a session in the browser with the secret of a one-time link',
    access: { role: 'anyone' },
    body: z.strictObject({ secret: z.string().min(1).max(200) }),
    answers: { 204: 'empty' },
  }),
  signOut: route({
    method: 'POST',
    path: '/v1/sign-out',
    name: 'session.sign_out',
    summary: 'End this session, all of its owner, or all there are',
    access: { role: 'viewer' },
    body: z
      .strictObject({
        everywhere: z
          .boolean()
          .default(false)
          .describe(
            'all sessions under the caller’s name, and the links for it or made by it that are not used yet; a token may ask, too',
          ),
        everybody: z
          .boolean()
          .default(false)
          .describe('all sessions and unused links of everybody; needs the role admin'),
      })
      .optional(),
    answers: { 204: 'empty' },
  }),
  me: route({
    method: 'GET',
    path: '/v1/me',
    name: 'session.me',
    summary: 'Who the caller is and what it may do',
    access: { role: 'viewer', limits: ['archive', 'node', 'task'] },
    answers: { 200: me },
  }),
  link: route({
    method: 'POST',
    path: '/v1/sign-in-links',
    name: 'session.link',
    summary: 'Make a link that signs one browser in, once, within 15 minutes',
    description:
      'The session ends with the token that the link was made with, no later than the session that made it would, and after 7 days at the latest.',
    access: { role: 'viewer' },
    body: z
      .strictObject({
        role: role.optional().describe('not above the caller’s own; default: the same'),
        name: name
          .optional()
          .describe(
            'whom it is for, for the record, with the caller’s own name unless that is an admin; default: the caller',
          ),
      })
      .optional(),
    answers: { 201: z.object({ url: z.string(), role, expires_at: time }) },
  }),
}

export const audit = {
  list: route({
    method: 'GET',
    path: '/v1/audit',
    name: 'audit.list',
    summary: 'Who did what, the newest first',
    access: { role: 'admin' },
    query: z.strictObject({
      actor: storable(z.string().min(1).max(1000)).optional().describe('admin, token:ci, user:ada, node:42'),
      action: storable(z.string().min(1).max(200)).optional().describe('the operation’s name: tasks.cancel'),
      since: time.optional(),
      limit: limit(500, 100),
      cursor: cursor.optional(),
    }),
    answers: {
      200: pageOf(
        z.object({
          id,
          at: time,
          actor: z.string(),
          via: z.string(),
          action: z.string(),
          subject: z.record(z.string(), z.string()),
          request_id: z.string(),
          status: z.int().nullable().describe('null: begun, and under way or never ended'),
        }),
      ),
    },
  }),
}
