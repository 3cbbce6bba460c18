// The routes as the browser needs them. The contract is made of schemas, and with them a schema library; the dashboard
// wants its types, which cost nothing, and of its values the method, the path and who may call.
import type { Plugin } from 'vite'
import { type Route, routes } from '../../src/api/index.ts'

const NAME = 'virtual:route-table'

/** Makes `virtual:route-table` out of the contract while building. */
export function routeTable(): Plugin {
  return {
    name: 'millrace:route-table',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: (id) => (id === `\0${NAME}` ? `export default ${JSON.stringify(table())}` : undefined),
  }
}

function table() {
  const small = ({ method, path, name, access }: Route) => ({ method, path, name, access })
  return Object.fromEntries(
    Object.entries(routes).map(([resource, verbs]) => [
      resource,
      Object.fromEntries(Object.entries(verbs).map(([verb, route]) => [verb, small(route)])),
    ]),
  )
}
