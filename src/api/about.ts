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
}
