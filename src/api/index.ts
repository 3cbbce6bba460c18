import { about } from './about.ts'
import { audit, session, tokens } from './access.ts'
import { archiveIndex } from './archive-index.ts'
import { runs, schedules } from './archive-runs.ts'
import { archives } from './archives.ts'
import { artifacts } from './artifacts.ts'
import { definitions } from './definitions.ts'
import { events } from './events.ts'
import { nodes, scheduler } from './nodes.ts'
import { overview } from './overview.ts'
import { secrets } from './secrets.ts'
import { taskLog } from './task-log.ts'
import { tasks } from './tasks.ts'
import { timeline } from './timeline.ts'
import { webhooks } from './webhooks.ts'
import { workers } from './workers.ts'

export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
} from './client.ts'
export { findInexact } from './exact-numbers.ts'
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
export { id, type Problem } from './shapes.ts'
export { type SocketMessage, socketMessage } from './socket.ts'

/** Every route of the server, by resource and verb. */
export const routes = {
  about,
  overview,
  session,
  tokens,
  audit,
  nodes,
  scheduler,
  tasks,
  taskLog,
  timeline,
  artifacts,
  secrets,
  events,
  webhooks,
  workers,
  archives,
  archiveIndex,
  definitions,
  runs,
  schedules,
}
