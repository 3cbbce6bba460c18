import { getRouteApi } from '@tanstack/react-router'
import { changed } from '../log/choice.ts'
import { TaskPage } from './task.tsx'

const page = getRouteApi('/shell/archives/$name/r/$rev/$task')

/** A task of an archive by its natural key. */
export function RevisionTask() {
  const { name, rev, task } = page.useParams()
  const search = page.useSearch()
  const navigate = page.useNavigate()
  return (
    <TaskPage
      id={`${name}@${rev.replace(/^r/, '')}:${task}`}
      search={search}
      onSearch={(patch) =>
        void navigate({ search: (before) => changed(before, patch), hash: true, replace: true, resetScroll: false })
      }
    />
  )
}
