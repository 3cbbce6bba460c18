import { getRouteApi } from '@tanstack/react-router'
import { TaskPage } from './task.tsx'

const page = getRouteApi('/shell/archives/$name/r/$rev/$task')

/** A task of an archive by its natural key. */
export function RevisionTask() {
  const { name, rev, task } = page.useParams()
  return <TaskPage id={`${name}@${rev}:${task}`} />
}
