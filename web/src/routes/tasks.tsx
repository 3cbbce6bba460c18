import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { routes, useCall } from '../api.ts'
import { useFresh } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import { TaskTable } from '../parts/task-table.tsx'

const page = getRouteApi('/shell/tasks')

/** Tasks of every part; the filter stands in the address. */
export function Tasks() {
  const search = page.useSearch()
  const list = useCall(routes.tasks.list, { query: { ...search, limit: 50 } })
  useFresh(['*'], ['tasks.list'])
  return (
    <Page title="Tasks">
      <Filter key={search.q} q={search.q ?? ''} />
      <Panel isFlush>
        <Loaded
          query={list}
          isEmpty={({ items }) => items.length === 0}
          empty={<EmptyState title="No task is like this">Take something out of the filter.</EmptyState>}
        >
          {({ items, next_cursor }) => (
            <>
              <TaskTable label="Tasks" tasks={items} />
              {next_cursor !== null && (
                <p className="panel-body">
                  <Link to="/tasks" search={{ ...search, cursor: next_cursor }}>
                    Older ones
                  </Link>
                </p>
              )}
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  )
}

function Filter({ q }: { readonly q: string }) {
  const navigate = page.useNavigate()
  const [text, setText] = useState(q)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    void navigate({ search: text.trim() === '' ? {} : { q: text.trim() } })
  }
  return (
    <search>
      <form className="row" onSubmit={apply}>
        <input
          className="input"
          data-filter
          aria-label="Filter"
          placeholder="state:failed kind:… words"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit">Filter</Button>
      </form>
    </search>
  )
}
