// Every command: its name, what it does in half a line, and where its file is. Help and a mistyped name need no more
// than this table; the file is loaded when its command is asked for.
import { type Entry, type Leaf, leaf } from './leaf.ts'
import { databases, webhooks } from './tree-machinery.ts'

type Group = { readonly title: string; readonly commands: readonly Entry[] }

const start: readonly Entry[] = [
  leaf(
    'serve',
    'start the server, with its database unless another is named',
    async () => (await import('./commands/serve.ts')).serve,
  ),
  leaf(
    'init',
    'write what a repository begins with: settings and a workflow file',
    async () => (await import('./commands/init.ts')).init,
  ),
  leaf('demo', 'show a living example', async () => (await import('./commands/demo.ts')).demo),
  {
    name: 'worker',
    about: 'perform tasks of the same database, on this or another machine',
    byDefault: 'run',
    commands: [
      leaf(
        'run',
        'perform tasks until a signal comes',
        async () => (await import('./commands/worker-run.ts')).workerRun,
      ),
      leaf('ls', 'list who performs tasks', async () => (await import('./commands/worker-ls.ts')).workerLs),
      leaf(
        'pause',
        'have a worker take no more tasks until it is resumed',
        async () => (await import('./commands/worker-pause.ts')).workerPause,
      ),
      leaf(
        'drain',
        'have a worker finish what it performs and take no more',
        async () => (await import('./commands/worker-drain.ts')).workerDrain,
      ),
      leaf(
        'resume',
        'have a worker take tasks again',
        async () => (await import('./commands/worker-resume.ts')).workerResume,
      ),
    ],
  },
  leaf(
    'doctor',
    'look for what would keep Millrace from working here',
    async () => (await import('./commands/doctor.ts')).doctor,
  ),
  {
    name: 'migrate',
    about: "the database's schema",
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
    'the server, who you are there, and how many tasks it has',
    async () => (await import('./commands/status.ts')).status,
  ),
  leaf('ls', 'list tasks', async () => (await import('./commands/ls.ts')).ls),
  leaf('show', 'show a task, or a revision of an archive', async () => (await import('./commands/show.ts')).show),
  leaf('why', 'say why a task is in its state', async () => (await import('./commands/why.ts')).why),
  leaf('logs', 'print the output of a task', async () => (await import('./commands/logs.ts')).logs),
  leaf(
    'artifacts',
    'list or fetch the files that a task has left behind',
    async () => (await import('./commands/artifacts.ts')).artifacts,
  ),
  leaf(
    'watch',
    'show tasks as they change, until they have ended',
    async () => (await import('./commands/watch.ts')).watch,
  ),
  leaf('wait', 'wait until tasks have ended or are in a state', async () => (await import('./commands/wait.ts')).wait),
  leaf(
    'events',
    'print what happens, or the story of a task',
    async () => (await import('./commands/events.ts')).events,
  ),
  leaf('top', 'show what runs, live', async () => (await import('./commands/top.ts')).top),
  leaf('open', 'show a task, or the dashboard, in a browser', async () => (await import('./commands/open.ts')).open),
]

const act: readonly Entry[] = [
  leaf(
    'retry',
    'ask again for what failed, was canceled or skipped',
    async () => (await import('./commands/retry.ts')).retry,
  ),
  leaf('rerun', 'run again what succeeded, or a revision', async () => (await import('./commands/rerun.ts')).rerun),
  leaf(
    'cancel',
    'end tasks: at once, or by stopping what runs',
    async () => (await import('./commands/cancel.ts')).cancel,
  ),
  leaf('hold', 'keep tasks from starting', async () => (await import('./commands/hold.ts')).hold),
  leaf(
    'priority',
    'say which tasks come first among those that are ready',
    async () => (await import('./commands/priority.ts')).priority,
  ),
  leaf('release', 'let held tasks go on', async () => (await import('./commands/release.ts')).release),
  leaf(
    'skip',
    'skip tasks that have not started, and what needs them',
    async () => (await import('./commands/skip.ts')).skip,
  ),
]

const access: readonly Entry[] = [
  leaf('login', 'keep the address and the token of a server', async () => (await import('./commands/login.ts')).login),
  leaf('logout', 'forget the token of a server', async () => (await import('./commands/logout.ts')).logout),
  {
    name: 'context',
    about: 'the servers you have signed in to',
    commands: [
      leaf(
        'ls',
        'list servers that you have signed in to',
        async () => (await import('./commands/context-ls.ts')).contextLs,
      ),
      leaf(
        'use',
        'choose the server that commands ask',
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
  leaf('tree', 'draw nodes as the tree they are', async () => (await import('./commands/node-tree.ts')).nodeTree),
  leaf('get', 'print a node, or one of its values', async () => (await import('./commands/node-get.ts')).nodeGet),
  leaf('set', 'set a value of a node', async () => (await import('./commands/node-set.ts')).nodeSet),
  leaf(
    'edit',
    'edit or move a node that has not started',
    async () => (await import('./commands/node-edit.ts')).nodeEdit,
  ),
  leaf('rm', 'remove nodes that do not run', async () => (await import('./commands/node-rm.ts')).nodeRm),
  leaf(
    'kill',
    'stop nodes, or keep them from starting',
    async () => (await import('./commands/node-kill.ts')).nodeKill,
  ),
  leaf('wait', 'wait until nodes have ended', async () => (await import('./commands/node-wait.ts')).nodeWait),
]

const schedules: readonly Leaf[] = [
  leaf('ls', 'list schedules', async () => (await import('./commands/schedule-ls.ts')).scheduleLs),
  leaf('next', 'say when a schedule comes', async () => (await import('./commands/schedule-next.ts')).scheduleNext),
  leaf('run', 'run what is scheduled now', async () => (await import('./commands/schedule-run.ts')).scheduleRun),
  leaf(
    'pause',
    'keep schedules from running',
    async () => (await import('./commands/schedule-pause.ts')).schedulePause,
  ),
  leaf(
    'resume',
    'let paused schedules go on',
    async () => (await import('./commands/schedule-resume.ts')).scheduleResume,
  ),
]

const hooks: readonly Leaf[] = [
  leaf(
    'install',
    'have a repository announce what it gets',
    async () => (await import('./commands/hook-install.ts')).hookInstall,
  ),
  leaf(
    'uninstall',
    'take the announcement out of the hooks again',
    async () => (await import('./commands/hook-uninstall.ts')).hookUninstall,
  ),
  leaf('print', 'print what would be installed', async () => (await import('./commands/hook-print.ts')).hookPrint),
  leaf(
    'test',
    'do what the hook does and say what came of it',
    async () => (await import('./commands/hook-test.ts')).hookTest,
  ),
]

const workflows: readonly Leaf[] = [
  leaf(
    'lint',
    'find what is wrong with workflow files',
    async () => (await import('./commands/workflow-lint.ts')).workflowLint,
  ),
  leaf(
    'plan',
    'show what a commit would do, and what it would wait for',
    async () => (await import('./commands/workflow-plan.ts')).workflowPlan,
  ),
  leaf('graph', 'draw the tasks', async () => (await import('./commands/workflow-graph.ts')).workflowGraph),
  leaf('run', 'run tasks on this machine', async () => (await import('./commands/workflow-run.ts')).workflowRun),
  leaf(
    'schema',
    'print the JSON Schema, for editors',
    async () => (await import('./commands/workflow-schema.ts')).workflowSchema,
  ),
  leaf(
    'init',
    'write a workflow file to begin with',
    async () => (await import('./commands/workflow-init.ts')).workflowInit,
  ),
]

const archives: readonly Leaf[] = [
  leaf('add', 'register an archive', async () => (await import('./commands/archive-add.ts')).archiveAdd),
  leaf('ls', 'list archives', async () => (await import('./commands/archive-ls.ts')).archiveLs),
  leaf('show', 'show an archive', async () => (await import('./commands/archive-show.ts')).archiveShow),
  leaf('pause', 'stop planning its revisions', async () => (await import('./commands/archive-pause.ts')).archivePause),
  leaf('resume', 'plan its revisions again', async () => (await import('./commands/archive-resume.ts')).archiveResume),
  leaf('gaps', 'list revisions that are missing', async () => (await import('./commands/archive-gaps.ts')).archiveGaps),
  leaf(
    'catch-up',
    'look at its repository now',
    async () => (await import('./commands/archive-catch-up.ts')).archiveCatchUp,
  ),
  leaf(
    'index',
    'list its files at a revision, or search in them',
    async () => (await import('./commands/archive-index.ts')).archiveIndex,
  ),
  leaf('rm', 'watch it no more', async () => (await import('./commands/archive-rm.ts')).archiveRm),
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
  leaf('create', 'make a token', async () => (await import('./commands/token-create.ts')).tokenCreate),
  leaf('ls', 'list tokens', async () => (await import('./commands/token-ls.ts')).tokenLs),
  leaf('revoke', 'end tokens, at once', async () => (await import('./commands/token-revoke.ts')).tokenRevoke),
]

const other: readonly Entry[] = [
  leaf('api', 'send any request to the server', async () => (await import('./commands/api.ts')).api),
  {
    name: 'config',
    about: 'the settings',
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
        'print every setting in force and where it came from',
        async () => (await import('./commands/config-explain.ts')).configExplain,
      ),
    ],
  },
  leaf(
    'completion',
    'print the script that completes commands in a shell',
    async () => (await import('./commands/completion.ts')).completion,
  ),
  leaf('version', 'print the version', async () => (await import('./commands/version.ts')).version),
]

export const tree: readonly Group[] = [
  {
    title: 'Start',
    commands: [...start, { name: 'db', about: 'the database: reach it, copy it, move it', commands: databases }],
  },
  { title: 'Look', commands: look },
  { title: 'Act', commands: act },
  {
    title: 'Archives',
    commands: [
      { name: 'archive', about: 'repositories whose commits start workflows', commands: archives },
      leaf(
        'commit',
        'announce a revision; inside a task, commit',
        async () => (await import('./commands/commit.ts')).commit,
      ),
      leaf('loom', 'draw revisions by their tasks', async () => (await import('./commands/loom.ts')).loom),
    ],
  },
  {
    title: 'Archives',
    commands: [{ name: 'workflow', about: 'the workflow files of an archive, without a server', commands: workflows }],
  },
  {
    title: 'Trees',
    commands: [{ name: 'node', about: 'commands as a tree: each runs after its parent', commands: nodes }],
  },
  {
    title: 'Runs',
    commands: [
      leaf('run', 'run a workflow of an archive by hand', async () => (await import('./commands/run.ts')).runWorkflow),
      { name: 'schedule', about: 'when workflows run by themselves', commands: schedules },
    ],
  },
  { title: 'Hooks', commands: [{ name: 'hook', about: 'the hooks of repositories on this host', commands: hooks }] },
  {
    title: 'Machinery',
    commands: [{ name: 'webhook', about: 'receivers outside that are told of events', commands: webhooks }],
  },
  {
    title: 'Access',
    commands: [
      ...access,
      { name: 'token', about: 'tokens of programs and people', commands: tokens },
      { name: 'secret', about: 'what tasks need and nobody may see', commands: secrets },
    ],
  },
  { title: 'Other', commands: other },
]

/** What the shell's completion calls; nobody types it. */
export const hidden: readonly Leaf[] = [
  leaf('complete', 'suggest how a command line goes on', async () => (await import('./commands/complete.ts')).complete),
]
