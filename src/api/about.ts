import { z } from 'zod'
import { route } from './route.ts'

export const about = {
  openapi: route({
    method: 'GET',
    path: '/v1/openapi.json',
    name: 'about.openapi',
    summary: 'This document',
    access: { role: 'anyone' },
    answers: { 200: 'application/json' },
  }),
  server: route({
    method: 'GET',
    path: '/v1/about',
    name: 'about.server',
    summary: 'Which release this server is, on which database',
    access: { role: 'viewer' },
    answers: {
      200: z
        .object({
          version: z.string(),
          node: z.string().describe('the version of Node.js'),
          database: z.object({
            version: z.string().describe('of PostgreSQL'),
            schema: z.int().describe('the last migration that was made'),
            size_bytes: z.number().describe('of the whole database'),
          }),
          audit_days: z.int().describe('how long the audit is kept; 0: for ever'),
        })
        .meta({ id: 'About' }),
    },
  }),
}
