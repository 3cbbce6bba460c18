import { routes, useCall } from '../api.ts'
import { formatBytes } from '../format.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loaded, Panel } from '../parts/panel.tsx'
import './settings.css'

/** Which server this is, and how long it keeps what. */
export function About() {
  const about = useCall(routes.about.server)
  return (
    <div className="stack">
      <Panel title="Server">
        <Loaded query={about}>
          {({ version, node, database }) => (
            <Facts
              of={{
                Millrace: version,
                'Node.js': node,
                PostgreSQL: database.version,
                Schema: `migration ${database.schema}`,
                Size: formatBytes(database.size_bytes),
              }}
            />
          )}
        </Loaded>
      </Panel>
      <Panel title="What is kept">
        <Loaded query={about}>
          {({ audit_days }) => (
            <Facts
              of={{
                Events: 'seven days, a million at most',
                Deliveries: '30 days',
                Audit: audit_days === 0 ? 'for ever' : `${audit_days} days (audit_days)`,
                Output: 'the first 64 MiB and the last 16 MiB of each attempt, with its task',
              }}
            />
          )}
        </Loaded>
      </Panel>
      <Panel title="When something is wrong">
        <CodeBlock text="millrace doctor" label="command" />
      </Panel>
    </div>
  )
}
