import { CodeBlock } from '../parts/code-block.tsx'
import { Panel } from '../parts/panel.tsx'

/** How repositories announce their commits. */
export function Hooks() {
  return (
    <div className="stack">
      <Panel title="Subversion">
        <CodeBlock text="millrace hook install --svn /srv/svn/my-project --archive My-Project" label="command" />
      </Panel>
      <Panel title="Git">
        <CodeBlock text="millrace hook install --git /srv/git/my-project.git --archive My-Project" label="command" />
      </Panel>
    </div>
  )
}
