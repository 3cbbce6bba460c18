import type { Claim } from '../harness/bench.ts'
import { archiveIndex } from './archive-index.ts'
import { archives } from './archives.ts'
import { backlog } from './backlog.ts'
import { chain } from './chain.ts'
import { cli } from './cli.ts'
import { commit } from './commit.ts'
import { dashboardLog } from './dashboard-log.ts'
import { dashboardLoom } from './dashboard-loom.ts'
import { drain } from './drain.ts'
import { enqueue } from './enqueue.ts'
import { events } from './events.ts'
import { fan } from './fan.ts'
import { history } from './history.ts'
import { latency } from './latency.ts'
import { list } from './list.ts'
import { loom } from './loom.ts'
import { nodes } from './nodes.ts'
import { notice } from './notice.ts'
import { requirements } from './requirements.ts'
import { snapshot } from './snapshot.ts'

export const claims: Claim[] = [
  drain,
  enqueue,
  latency,
  chain,
  fan,
  requirements,
  history,
  list,
  snapshot,
  nodes,
  events,
  notice,
  backlog,
  archives,
  loom,
  dashboardLoom,
  cli,
  archiveIndex,
  commit,
  dashboardLog,
]
