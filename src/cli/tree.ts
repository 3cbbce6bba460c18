// Every command: its name, what it does in half a line, and where its file is. Help and a mistyped name need no more
// than this table; the file is loaded when its command is asked for.
import { type Entry, type Leaf, leaf } from './leaf.ts'
import { databases, webhooks } from './tree-machinery.ts'

type Group = { readonly title: string; readonly commands: readonly Entry[] }

const start: readonly Entry[] = [
  leaf(
    'serve',
    'start the server, with an embedded database unless one is named',
    async () => (await import('./commands/serve.ts')).serve,
  ),
  leaf(
    'init',
    'write a configuration and a first workflow file into a repository',
    async () => (await import('./commands/init.ts')).init,
  ),
  leaf(
    'demo',
    'run a demonstration: a server, a repository and commits',
    async () => (await import('./commands/demo.ts')).demo,
  ),
  {
    name: 'worker',
    about: 'run a worker, list and control workers',
    byDefault: 'run',
    commands: [
      leaf(
        'run',
        'run tasks of a shared database until a signal ends it',
        async () => (await import('./commands/worker-run.ts')).workerRun,
      ),
      leaf('ls', 'list workers', async () => (await import('./commands/worker-ls.ts')).workerLs),
      leaf(
        'pause',
        'stop workers from claiming tasks until they are resumed',
        async () => (await import('./commands/worker-pause.ts')).workerPause,
      ),
      leaf(
        'drain',
        'let workers finish their tasks and stop',
        async () => (await import('./commands/worker-drain.ts')).workerDrain,
      ),
      leaf(
        'resume',
        'let paused workers claim tasks again',
        async () => (await import('./commands/worker-resume.ts')).workerResume,
      ),
    ],
  },
  leaf(
    'doctor',
    'check this machine, the database, the server and the hooks',
    async () => (await import('./commands/doctor.ts')).doctor,
  ),
  {
    name: 'migrate',
    about: 'update and inspect the schema of the database',
    commands: [
      leaf('up', 'bring the schema up to date', async () => (await import('./commands/migrate-up.ts')).migrateUp),
      leaf(
        'status',
        'compare the schema with this release',
        async () => (await import('./commands/migrate-status.ts')).migrateStatus,
      ),
      leaf(
        'sql',
        'print the script of an upgrade, without a database',
        async () => (await import('./commands/migrate-sql.ts')).migrateSql,
      ),
    ],
  },
]

const look: readonly Entry[] = [
  leaf(
    'status',
    'show the server, your token and the counts of tasks',
    async () => (await import('./commands/status.ts')).status,
  ),
  leaf('ls', 'list tasks', async () => (await import('./commands/ls.ts')).ls),
  leaf('show', 'show a task, or a revision of an archive', async () => (await import('./commands/show.ts')).show),
  leaf('why', 'show why a task is in its state', async () => (await import('./commands/why.ts')).why),
  leaf('logs', 'print the output of a task', async () => (await import('./commands/logs.ts')).logs),
  leaf(
    'artifacts',
    'list or fetch the files that a task has left behind',
    async () => (await import('./commands/artifacts.ts')).artifacts,
  ),
  leaf('watch', 'follow tasks until they have ended', async () => (await import('./commands/watch.ts')).watch),
  leaf('wait', 'wait until tasks have ended or are in a state', async () => (await import('./commands/wait.ts')).wait),
  leaf('events', 'print events, or the history of a task', async () => (await import('./commands/events.ts')).events),
  leaf('top', 'show running tasks, live', async () => (await import('./commands/top.ts')).top),
  leaf('open', 'open a task, or the dashboard, in a browser', async () => (await import('./commands/open.ts')).open),
]

const act: readonly Entry[] = [
  leaf(
    'retry',
    'retry tasks that failed, were canceled or skipped',
    async () => (await import('./commands/retry.ts')).retry,
  ),
  leaf(
    'rerun',
    'rerun tasks that succeeded, or a whole revision',
    async () => (await import('./commands/rerun.ts')).rerun,
  ),
  leaf('cancel', 'cancel tasks, and stop those that run', async () => (await import('./commands/cancel.ts')).cancel),
  leaf('hold', 'keep tasks from starting', async () => (await import('./commands/hold.ts')).hold),
  leaf('priority', 'change the priority of tasks', async () => (await import('./commands/priority.ts')).priority),
  leaf('release', 'release held tasks', async () => (await import('./commands/release.ts')).release),
  leaf(
    'skip',
    'skip tasks that have not started, and their dependents',
    async () => (await import('./commands/skip.ts')).skip,
  ),
]

const access: readonly Entry[] = [
  leaf(
    'login',
    'sign in: keep the address and the token of a server',
    async () => (await import('./commands/login.ts')).login,
  ),
  leaf('logout', 'sign out: forget the token of a server', async () => (await import('./commands/logout.ts')).logout),
  {
    name: 'context',
    about: 'choose among servers',
    commands: [
      leaf(
        'ls',
        'list the servers you have signed in to',
        async () => (await import('./commands/context-ls.ts')).contextLs,
      ),
      leaf(
        'use',
        'choose the server that commands use',
        async () => (await import('./commands/context-use.ts')).contextUse,
      ),
      leaf(
        'add',
        'name a server without signing in',
        async () => (await import('./commands/context-add.ts')).contextAdd,
      ),
    ],
  },
]

const nodes: readonly Leaf[] = [
  leaf('add', 'add nodes: commands that run in order', async () => (await import('./commands/node-add.ts')).nodeAdd),
  leaf('ls', 'list nodes', async () => (await import('./commands/node-ls.ts')).nodeLs),
  leaf('tree', 'draw the tree of nodes', async () => (await import('./commands/node-tree.ts')).nodeTree),
  leaf('get', 'print a node, or one of its values', async () => (await import('./commands/node-get.ts')).nodeGet),
  leaf('set', 'set a value of a node', async () => (await import('./commands/node-set.ts')).nodeSet),
  leaf(
    'edit',
    'edit or move a node that has not started',
    async () => (await import('./commands/node-edit.ts')).nodeEdit,
  ),
  leaf('rm', 'remove nodes that are not running', async () => (await import('./commands/node-rm.ts')).nodeRm),
  leaf(
    'kill',
    'stop nodes, or keep them from starting',
    async () => (await import('./commands/node-kill.ts')).nodeKill,
  ),
  leaf('wait', 'wait until nodes have ended', async () => (await import('./commands/node-wait.ts')).nodeWait),
]

const schedules: readonly Leaf[] = [
  leaf('ls', 'list schedules', async () => (await import('./commands/schedule-ls.ts')).scheduleLs),
  leaf(
    'next',
    'show the next times of a schedule',
    async () => (await import('./commands/schedule-next.ts')).scheduleNext,
  ),
  leaf('run', 'run a schedule now', async () => (await import('./commands/schedule-run.ts')).scheduleRun),
  leaf('pause', 'pause schedules', async () => (await import('./commands/schedule-pause.ts')).schedulePause),
  leaf('resume', 'resume paused schedules', async () => (await import('./commands/schedule-resume.ts')).scheduleResume),
]

const hooks: readonly Leaf[] = [
  leaf(
    'install',
    'install the hook that announces revisions',
    async () => (await import('./commands/hook-install.ts')).hookInstall,
  ),
  leaf('uninstall', 'remove the hook', async () => (await import('./commands/hook-uninstall.ts')).hookUninstall),
  leaf(
    'print',
    'print the hook without installing it',
    async () => (await import('./commands/hook-print.ts')).hookPrint,
  ),
  leaf('test', 'run the hook and show the result', async () => (await import('./commands/hook-test.ts')).hookTest),
]

const workflows: readonly Leaf[] = [
  leaf('lint', 'check workflow files', async () => (await import('./commands/workflow-lint.ts')).workflowLint),
  leaf(
    'plan',
    'show the tasks that a commit would start',
    async () => (await import('./commands/workflow-plan.ts')).workflowPlan,
  ),
  leaf(
    'graph',
    'draw the tasks of workflow files',
    async () => (await import('./commands/workflow-graph.ts')).workflowGraph,
  ),
  leaf(
    'run',
    'run tasks of workflow files on this machine',
    async () => (await import('./commands/workflow-run.ts')).workflowRun,
  ),
  leaf(
    'schema',
    'print the JSON Schema of workflow files',
    async () => (await import('./commands/workflow-schema.ts')).workflowSchema,
  ),
  leaf('init', 'write a first workflow file', async () => (await import('./commands/workflow-init.ts')).workflowInit),
]

const archives: readonly Leaf[] = [
  leaf('add', 'register an archive', async () => (await import('./commands/archive-add.ts')).archiveAdd),
  leaf('ls', 'list archives', async () => (await import('./commands/archive-ls.ts')).archiveLs),
  leaf('show', 'show an archive', async () => (await import('./commands/archive-show.ts')).archiveShow),
  leaf(
    'pause',
    'pause the planning of its revisions',
    async () => (await import('./commands/archive-pause.ts')).archivePause,
  ),
  leaf(
    'resume',
    'resume the planning of its revisions',
    async () => (await import('./commands/archive-resume.ts')).archiveResume,
  ),
  leaf('gaps', 'list missing revisions', async () => (await import('./commands/archive-gaps.ts')).archiveGaps),
  leaf(
    'catch-up',
    'read its repository now',
    async () => (await import('./commands/archive-catch-up.ts')).archiveCatchUp,
  ),
  leaf(
    'index',
    'list its files at a revision, or search in them',
    async () => (await import('./commands/archive-index.ts')).archiveIndex,
  ),
  leaf('rm', 'remove an archive; its history stays', async () => (await import('./commands/archive-rm.ts')).archiveRm),
]

const secrets: readonly Leaf[] = [
  leaf(
    'set',
    'set a secret, from standard input or a file',
    async () => (await import('./commands/secret-set.ts')).secretSet,
  ),
  leaf('ls', 'list secrets, without their values', async () => (await import('./commands/secret-ls.ts')).secretLs),
  leaf('rm', 'remove a secret', async () => (await import('./commands/secret-rm.ts')).secretRm),
]

const tokens: readonly Leaf[] = [
  leaf('create', 'create a token', async () => (await import('./commands/token-create.ts')).tokenCreate),
  leaf('ls', 'list tokens', async () => (await import('./commands/token-ls.ts')).tokenLs),
  leaf('revoke', 'revoke tokens at once', async () => (await import('./commands/token-revoke.ts')).tokenRevoke),
]

const other: readonly Entry[] = [
  leaf('api', 'send any request to the server', async () => (await import('./commands/api.ts')).api),
  {
    name: 'config',
    about: 'read and write settings',
    commands: [
      leaf('get', 'print the value of a setting', async () => (await import('./commands/config-get.ts')).configGet),
      leaf(
        'set',
        'write a setting into the configuration file',
        async () => (await import('./commands/config-set.ts')).configSet,
      ),
      leaf(
        'path',
        'print where the configuration file is',
        async () => (await import('./commands/config-path.ts')).configPathCommand,
      ),
      leaf(
        'explain',
        'print every setting and its source',
        async () => (await import('./commands/config-explain.ts')).configExplain,
      ),
    ],
  },
  leaf(
    'completion',
    'print the completion script of a shell',
    async () => (await import('./commands/completion.ts')).completion,
  ),
  leaf('version', 'print the version', async () => (await import('./commands/version.ts')).version),
]

export const tree: readonly Group[] = [
  {
    title: 'Start',
    commands: [...start, { name: 'db', about: 'open, copy and move the database', commands: databases }],
  },
  { title: 'Look', commands: look },
  { title: 'Act', commands: act },
  {
    title: 'Archives',
    commands: [
      { name: 'archive', about: 'manage repositories whose commits start workflows', commands: archives },
      leaf(
        'commit',
        'announce a revision; inside a task, commit its workspace',
        async () => (await import('./commands/commit.ts')).commit,
      ),
      leaf('loom', 'draw revisions by tasks', async () => (await import('./commands/loom.ts')).loom),
    ],
  },
  {
    title: 'Archives',
    commands: [{ name: 'workflow', about: 'check and run workflow files, without a server', commands: workflows }],
  },
  {
    title: 'Trees',
    commands: [{ name: 'node', about: 'run commands as a tree: each runs after its parent', commands: nodes }],
  },
  {
    title: 'Runs',
    commands: [
      leaf('run', 'run a workflow of an archive by hand', async () => (await import('./commands/run.ts')).runWorkflow),
      { name: 'schedule', about: 'manage schedules of workflows', commands: schedules },
    ],
  },
  {
    title: 'Hooks',
    commands: [{ name: 'hook', about: 'install and test hooks of repositories on this host', commands: hooks }],
  },
  {
    title: 'Machinery',
    commands: [{ name: 'webhook', about: 'manage receivers of events', commands: webhooks }],
  },
  {
    title: 'Access',
    commands: [
      ...access,
      { name: 'token', about: 'manage tokens', commands: tokens },
      { name: 'secret', about: 'manage secrets of tasks', commands: secrets },
    ],
  },
  { title: 'Other', commands: other },
]

/** What the shell's completion calls; nobody types it. */
export const hidden: readonly Leaf[] = [
  leaf('complete', 'suggest how a command line goes on', async () => (await import('./commands/complete.ts')).complete),
]
