import { about } from './about.ts'
import { audit, session, tokens } from './access.ts'
import { tasks } from './tasks.ts'

export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  NotAServer,
  ServerRefused,
  ServerUnreachable,
} from './client.ts'
export { toOpenApi } from './openapi.ts'
export {
  type Access,
  type Answer,
  type Asked,
  type BodyAnswered,
  type BodyOf,
  type Media,
  type ParamsOf,
  type QueryOf,
  type Role,
  type Route,
  roles,
  route,
} from './route.ts'
export { id, type Problem, problem } from './shapes.ts'

/** Every route of the server, by resource and verb. */
export const routes = { about, session, tokens, audit, tasks }
