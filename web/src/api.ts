// The server, as the screens ask it. Types come from the contract; of its values only a small table is loaded, and the
// schemas that the contract consists of stay out of the browser.

import table from 'virtual:route-table'
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type Client, createClient, ServerRefused } from '../../src/api/client.ts'
import type { Asked, BodyAnswered, Role, Route, routes as Routes } from '../../src/api/index.ts'
import { basePath } from './base-path.ts'
import { clock } from './clock.ts'
import { readExactly, shareExactly } from './exact-json.ts'

export { textOf } from './exact-json.ts'
export type { Asked, BodyAnswered, Role, Route }
export { ServerRefused }

/** Every route by resource and verb: `routes.tasks.get`. Only method, path, name and access are there at run time. */
export const routes = table as typeof Routes

async function send(...[address, options]: Parameters<typeof fetch>): Promise<Response> {
  const askedAt = Date.now()
  const response = await fetch(address, options)
  clock.learn(askedAt, Date.now(), response.headers.get('date'))
  return response
}

const client = createClient({ url: `${location.origin}${basePath}`, fetch: send })

let signedOut = () => {}

/** Calls back when an answer says that nobody is signed in any more: the session has ended, whatever was asked for. */
export function whenSignedOut(work: () => void): void {
  signedOut = work
}

/** Calls a route and answers the whole response, for streams and headers. */
export const open: Client['open'] = async (route, asked, options) => {
  try {
    return await client.open(route, asked, options)
  } catch (error) {
    // Who asks who they are is told by the answer itself.
    const isTold = route.name === routes.session.me.name
    if (error instanceof ServerRefused && error.code === 'unauthorized' && !isTold) signedOut()
    throw error
  }
}

/** Calls a route with the browser's session. Throws `ServerRefused`, `ServerUnreachable` or `NotAServer`. */
export const call: Client['call'] = async (route, asked, options) => {
  const response = await open(route, asked, options)
  const text = await response.text()
  if (text === '') return undefined as never
  if (!(response.headers.get('content-type') ?? '').includes('json')) return text as never
  return readExactly(text) as never
}

type Needs<R extends Route> = Record<never, never> extends Asked<R> ? [asked?: Asked<R>] : [asked: Asked<R>]

/** For `useQuery` and `queryClient`: what a GET answers, kept under its name and what was asked. */
export function queryOf<R extends Route>(route: R, ...[asked]: Needs<R>) {
  return queryOptions({
    queryKey: [route.name, asked ?? {}] as const,
    queryFn: ({ signal }): Promise<BodyAnswered<R>> => call(route, asked, { signal }),
    structuralSharing: shareExactly,
  })
}

/** Fetches what a GET answers and keeps it: `useCall(routes.tasks.get, { params: { id } })`. */
export function useCall<R extends Route>(route: R, ...asked: Needs<R>): UseQueryResult<BodyAnswered<R>> {
  return useQuery(queryOf(route, ...asked)) as UseQueryResult<BodyAnswered<R>>
}

const rising: readonly Role[] = ['viewer', 'submitter', 'operator', 'admin']

/** Why whoever is signed in may not call a route, in a sentence; undefined when they may. The server looks again. */
export function useRefusal(route: Route): string | undefined {
  const { data: me } = useCall(routes.session.me)
  const { role } = route.access
  if (me === undefined || role === 'anyone') return undefined
  if (me.role !== null && rising.indexOf(me.role) >= rising.indexOf(role)) return undefined
  return `This needs the role ${role}; yours is ${me.role ?? 'limited to one thing'}.`
}
