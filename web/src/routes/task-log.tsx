import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { open, routes } from '../api.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'

const page = getRouteApi('/shell/tasks/$id/log')

/** The output of a task's last attempt. */
export function TaskLog() {
  const { id } = page.useParams()
  const log = useQuery({
    queryKey: [routes.tasks.log.name, id],
    queryFn: async ({ signal }) => (await open(routes.tasks.log, { params: { id } }, { signal })).text(),
  })
  return (
    <Page
      title={`Log of ${id}`}
      crumbs={
        <>
          <Link to="/tasks">Tasks</Link>
          <Link to="/tasks/$id" params={{ id }} className="name">
            {id}
          </Link>
        </>
      }
    >
      <Panel>
        <Loaded query={log} isEmpty={(text) => text === ''} empty={<EmptyState title="It has written nothing" />}>
          {(text) => <CodeBlock text={text} label="log" />}
        </Loaded>
      </Panel>
    </Page>
  )
}
