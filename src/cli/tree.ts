// Every command: its name, what it does in half a line, and where its file is. Help and a mistyped name need no more
// than this table; the file is loaded when its command is asked for.
import type { CommandFile } from './command.ts'

type Leaf = { readonly name: string; readonly about: string; readonly load: () => Promise<CommandFile> }
type Branch = { readonly name: string; readonly about: string; readonly commands: readonly Leaf[] }
export type Entry = Leaf | Branch
type Group = { readonly title: string; readonly commands: readonly Entry[] }

const start: readonly Entry[] = [
  {
    name: 'serve',
    about: 'start the server, with its database unless another is named',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'worker',
    about: 'perform tasks of the same database, on this or another machine',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  {
    name: 'doctor',
    about: 'look for what would keep Millrace from working here',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'migrate',
    about: "the database's schema",
    commands: [
      {
        name: 'up',
        about: 'bring the schema up to date',
        load: async () => (await import('./commands/migrate-up.ts')).migrateUp,
      },
      {
        name: 'status',
        about: 'compare the schema with this release',
        load: async () => (await import('./commands/migrate-status.ts')).migrateStatus,
      },
      {
        name: 'sql',
        about: 'print the script of an upgrade, without a database',
        load: async () => (await import('./commands/migrate-sql.ts')).migrateSql,
      },
    ],
  },
]

const look: readonly Entry[] = [
  {
    name: 'status',
    about: 'the server, who you are there, and how many tasks it has',
    load: async () => (await import('./commands/status.ts')).status,
  },
  { name: 'ls', about: 'list tasks', load: async () => (await import('./commands/ls.ts')).ls },
  { name: 'show', about: 'show a task', load: async () => (await import('./commands/show.ts')).show },
  {
    name: 'why',
    about: 'say why a task is in its state',
    load: async () => (await import('./commands/why.ts')).why,
  },
  { name: 'logs', about: 'print the output of a task', load: async () => (await import('./commands/logs.ts')).logs },
  {
    name: 'watch',
    about: 'show tasks as they change, until they have ended',
    load: async () => (await import('./commands/watch.ts')).watch,
  },
  {
    name: 'wait',
    about: 'wait until tasks have ended or are in a state',
    load: async () => (await import('./commands/wait.ts')).wait,
  },
  {
    name: 'events',
    about: 'print what happens, or the story of a task',
    load: async () => (await import('./commands/events.ts')).events,
  },
  { name: 'top', about: 'show what runs, live', load: async () => (await import('./commands/top.ts')).top },
]

const act: readonly Entry[] = [
  {
    name: 'retry',
    about: 'ask again for what failed, was canceled or skipped',
    load: async () => (await import('./commands/retry.ts')).retry,
  },
  {
    name: 'cancel',
    about: 'end tasks: at once, or by stopping what runs',
    load: async () => (await import('./commands/cancel.ts')).cancel,
  },
  {
    name: 'hold',
    about: 'keep tasks from starting',
    load: async () => (await import('./commands/hold.ts')).hold,
  },
  { name: 'release', about: 'let held tasks go on', load: async () => (await import('./commands/release.ts')).release },
  {
    name: 'skip',
    about: 'skip tasks that have not started, and what needs them',
    load: async () => (await import('./commands/skip.ts')).skip,
  },
]

const access: readonly Entry[] = [
  {
    name: 'login',
    about: 'keep the address and the token of a server',
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    name: 'logout',
    about: 'forget the token of a server',
    load: async () => (await import('./commands/logout.ts')).logout,
  },
  {
    name: 'context',
    about: 'the servers you have signed in to',
    commands: [
      {
        name: 'ls',
        about: 'list them',
        load: async () => (await import('./commands/context-ls.ts')).contextLs,
      },
      {
        name: 'use',
        about: 'choose the one that commands ask',
        load: async () => (await import('./commands/context-use.ts')).contextUse,
      },
      {
        name: 'add',
        about: 'name a server without signing in',
        load: async () => (await import('./commands/context-add.ts')).contextAdd,
      },
    ],
  },
]

const tokens: readonly Leaf[] = [
  {
    name: 'create',
    about: 'make a token',
    load: async () => (await import('./commands/token-create.ts')).tokenCreate,
  },
  { name: 'ls', about: 'list them', load: async () => (await import('./commands/token-ls.ts')).tokenLs },
  {
    name: 'revoke',
    about: 'end them, at once',
    load: async () => (await import('./commands/token-revoke.ts')).tokenRevoke,
  },
]

const other: readonly Entry[] = [
  { name: 'api', about: 'send any request to the server', load: async () => (await import('./commands/api.ts')).api },
  {
    name: 'config',
    about: 'the settings',
    commands: [
      {
        name: 'explain',
        about: 'print every setting in force and where it came from',
        load: async () => (await import('./commands/config-explain.ts')).configExplain,
      },
    ],
  },
  {
    name: 'completion',
    about: 'print the script that completes commands in a shell',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  { name: 'version', about: 'print the version', load: async () => (await import('./commands/version.ts')).version },
]

export const tree: readonly Group[] = [
  { title: 'Start', commands: start },
  { title: 'Look', commands: look },
  { title: 'Act', commands: act },
  {
    title: 'Access',
    commands: [...access, { name: 'token', about: 'tokens of programs and people', commands: tokens }],
  },
  { title: 'Other', commands: other },
]

/** What the shell's completion calls; nobody types it. */
export const hidden: readonly Leaf[] = [
  {
    name: 'complete',
    about: 'suggest how a command line goes on',
    load: async () => (await import('./commands/complete.ts')).complete,
  },
]
