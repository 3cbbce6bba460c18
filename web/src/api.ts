// The server, as the screens ask it. Types come from the contract; of its values only a small table is loaded, and the
// schemas that the contract consists of stay out of the browser.

import table from 'virtual:route-table'
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type Client, createClient } from '../../src/api/client.ts'
import type { Asked, BodyAnswered, Role, Route, routes as Routes } from '../../src/api/index.ts'
import { basePath } from './base-path.ts'
import { clock } from './clock.ts'

export { NotAServer, ServerRefused, ServerUnreachable } from '../../src/api/client.ts'
export type { Asked, BodyAnswered, Role, Route }

/** Every route by resource and verb: `routes.tasks.get`. Only method, path, name and access are there at run time. */
export const routes = table as typeof Routes

const texts = new WeakMap<object, string>()

async function send(...[address, options]: Parameters<typeof fetch>): Promise<Response> {
  const askedAt = Date.now()
  const response = await fetch(address, options)
  clock.learn(askedAt, Date.now(), response.headers.get('date'))
  return response
}

const client = createClient({ url: `${location.origin}${basePath}`, fetch: send })

/** Calls a route with the browser's session. Throws `ServerRefused`, `ServerUnreachable` or `NotAServer`. */
export const call: Client['call'] = async (route, asked, options) => {
  const response = await client.open(route, asked, options)
  const text = await response.text()
  if (text === '') return undefined as never
  if (!(response.headers.get('content-type') ?? '').includes('json')) return text as never
  const body = JSON.parse(text)
  if (typeof body === 'object' && body !== null) texts.set(body, text)
  return body
}

/** Calls a route and answers the whole response, for streams and headers. */
export const open: Client['open'] = (route, asked, options) => client.open(route, asked, options)

/** The JSON of an answer exactly as it was sent. JavaScript's numbers would alter large ones. */
export const textOf = (body: object): string => texts.get(body) ?? JSON.stringify(body)

type Needs<R extends Route> = Record<never, never> extends Asked<R> ? [asked?: Asked<R>] : [asked: Asked<R>]

/** For `useQuery` and `queryClient`: what a GET answers, kept under its name and what was asked. */
export function queryOf<R extends Route>(route: R, ...[asked]: Needs<R>) {
  return queryOptions({
    queryKey: [route.name, asked ?? {}] as const,
    queryFn: ({ signal }): Promise<BodyAnswered<R>> => call(route, asked, { signal }),
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
