import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { type BodyAnswered, routes, useCall } from '../api.ts'
import { basePath } from '../base-path.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { NeedsAttention } from './overview-attention.tsx'
import './overview-first-run.css'

type Counts = BodyAnswered<typeof routes.tasks.counts>
type Archive = BodyAnswered<typeof routes.archives.list>['items'][number]

/** What somebody sees who has just started a server: three ways to begin, and what the server has seen of them. */
export function FirstRun({ counts, archives }: { counts: Counts | undefined; archives: readonly Archive[] }) {
  const workers = useCall(routes.workers.list, { query: {} })
  const attention = useCall(routes.overview.attention, { query: {} })
  const [worker] = workers.data?.items.filter(({ is_alive }) => is_alive) ?? []
  const [commit] = archives.filter(({ first, planned }) => planned.number >= first)
  const succeeded = counts?.states.succeeded?.count ?? 0
  const steps = [
    { is: worker !== undefined, done: `A worker is here: ${worker?.name}`, todo: 'No worker is here yet' },
    { is: commit !== undefined, done: `The first commit came to ${commit?.name}`, todo: 'The first commit' },
    { is: succeeded > 0, done: 'The first task succeeded', todo: 'The first success' },
  ]
  const isOver = steps.every(({ is }) => is) || succeeded > 0
  return (
    <Page
      title="Welcome"
      summary="The server runs and nothing has happened here yet. Begin in any of these ways: what the server sees of it is ticked off by itself."
    >
      <ol className="steps" aria-label="What the server has seen">
        {steps.map(({ is, done, todo }) => (
          <li key={todo} data-done={is || undefined}>
            {is ? <CircleCheck aria-hidden size={17} /> : <CircleDashed aria-hidden size={17} />}
            <span className="visually-hidden">{is ? 'Done: ' : 'To come: '}</span>
            <span className="name">{is ? done : todo}</span>
          </li>
        ))}
      </ol>
      {isOver && (
        <p role="status">
          It works. <a href={`${basePath}/`}>Show the overview</a>, or <Link to="/tasks">the tasks</Link>.
        </p>
      )}
      <div className="ways">
        <Ways />
      </div>
      {(attention.data?.items.length ?? 0) > 0 && <NeedsAttention />}
    </Page>
  )
}

function Ways() {
  const server = `${location.origin}${basePath}`
  const job = `curl -X POST ${server}/v1/nodes \\
  -H "Authorization: Bearer $MILLRACE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '[{"metadata": {"type": "command", "parent": "root"},
        "data": {"command": "echo", "args": ["hello"]}}]'`
  return (
    <>
      <Way title="Watch a demo" command="npx millrace demo">
        A server of its own, a real repository and a story: commits in the wrong order, a newer one that replaces an
        older one, a failure and its mending. It needs Subversion and groff.
      </Way>
      <Way
        title="Connect a repository"
        command={`npx millrace login --server ${server} \\
  --token-file .millrace/admin-token
npx millrace archive add My-Project \\
  --svn file:///srv/svn/my-project --from 1
npx millrace hook install --archive My-Project \\
  --svn /srv/svn/my-project`}
      >
        The server keeps the token of its administrator in the file <code>admin-token</code> of its data folder, which
        is <code>.millrace</code> where it was started; whoever has no access to it asks an administrator for a token.
        Each commit is planned by the workflow files that lie in the repository under <code>_workflows</code>;{' '}
        <code>millrace init</code> writes the first one. For git there is <code>--git</code>.
      </Way>
      <Way title="Send a job from code" command={job}>
        A command with its arguments, over HTTP from any language. <code>npx millrace token create</code> makes a token;
        the description of all calls is at{' '}
        <a href={`${server}/v1/openapi.json`} className="name">
          /v1/openapi.json
        </a>
        .
      </Way>
    </>
  )
}

function Way({ title, command, children }: { title: string; command: string; children: ReactNode }) {
  return (
    <Panel title={title}>
      <div className="way">
        <p>{children}</p>
        <CodeBlock text={command} label="command" />
      </div>
    </Panel>
  )
}
