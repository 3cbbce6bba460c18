import { z } from 'zod'
import { route } from './route.ts'

const signIn = z.strictObject({ secret: z.string().min(1).max(200) })

export const about = {
  openapi: route({
    method: 'GET',
    path: '/v1/openapi.json',
    name: 'about.openapi',
    summary: 'This document',
    access: { role: 'anyone' },
    answers: { 200: 'application/json' },
  }),
  signIn: route({
    method: 'POST',
    path: '/v1/sign-in',
    name: 'about.sign_in',
    summary: 'Open a session in the browser with the secret of a one-time link',
    access: { role: 'anyone' },
    body: signIn,
    answers: { 204: 'empty' },
  }),
}
