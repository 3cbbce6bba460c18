// Every screen and its address. A screen is a file in routes/, loaded when it is first shown.
import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router'
import { basePath } from './base-path.ts'
import { lazyScreen as lazyRouteComponent } from './lazy-screen.ts'
import { readSearch, strings, writeSearch } from './search.ts'
import { ScreenFailure } from './shell/screen-failure.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Outlet })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: strings('to'),
  component: lazyRouteComponent(() => import('./routes/sign-in.tsx'), 'SignIn'),
})

const under = () => shell

const overview = createRoute({
  getParentRoute: under,
  path: '/',
  validateSearch: strings('range'),
  component: lazyRouteComponent(() => import('./routes/overview.tsx'), 'Overview'),
})
const archives = createRoute({
  getParentRoute: under,
  path: '/archives',
  component: lazyRouteComponent(() => import('./routes/archives.tsx'), 'Archives'),
})
const archive = createRoute({
  getParentRoute: under,
  path: '/archives/$name',
  validateSearch: strings('at', 'task', 'columns'),
  component: lazyRouteComponent(() => import('./routes/archive.tsx'), 'Archive'),
})
const definitions = createRoute({
  getParentRoute: under,
  path: '/archives/$name/definitions',
  validateSearch: strings('rev', 'at', 'tab', 'view', 'file', 'line', 'author', 'message', 'paths', 'workflow'),
  component: lazyRouteComponent(() => import('./routes/definitions.tsx'), 'Definitions'),
})
const revision = createRoute({
  getParentRoute: under,
  path: '/archives/$name/r/$rev',
  validateSearch: strings('tab', 'view', 'follow', 'file', 'line'),
  component: lazyRouteComponent(() => import('./routes/revision.tsx'), 'Revision'),
})
const revisionTask = createRoute({
  getParentRoute: under,
  path: '/archives/$name/r/$rev/$task',
  validateSearch: strings('tab', 'attempt', 'stream', 'q', 'regex', 'case'),
  component: lazyRouteComponent(() => import('./routes/revision-task.tsx'), 'RevisionTask'),
})
const tasks = createRoute({
  getParentRoute: under,
  path: '/tasks',
  validateSearch: strings('q', 'cursor'),
  component: lazyRouteComponent(() => import('./routes/tasks.tsx'), 'Tasks'),
})
const task = createRoute({
  getParentRoute: under,
  path: '/tasks/$id',
  validateSearch: strings('tab', 'attempt', 'stream', 'q', 'regex', 'case'),
  component: lazyRouteComponent(() => import('./routes/task.tsx'), 'TaskScreen'),
})
const taskLog = createRoute({
  getParentRoute: under,
  path: '/tasks/$id/log',
  validateSearch: strings('attempt', 'stream', 'q', 'regex', 'case', 'view', 'from'),
  component: lazyRouteComponent(() => import('./routes/task-log.tsx'), 'TaskLog'),
})
const nodes = createRoute({
  getParentRoute: under,
  path: '/nodes',
  validateSearch: strings('node', 'zoom', 'state', 'type', 'pane'),
  component: lazyRouteComponent(() => import('./routes/nodes.tsx'), 'Nodes'),
})
const timeline = createRoute({
  getParentRoute: under,
  path: '/timeline',
  validateSearch: strings('scope', 'archive', 'rev', 'worker', 'span', 'from', 'to', 'zoom', 'fold', 'hide', 'view'),
  component: lazyRouteComponent(() => import('./routes/timeline.tsx'), 'Timeline'),
})
const workers = createRoute({
  getParentRoute: under,
  path: '/workers',
  validateSearch: strings('all'),
  component: lazyRouteComponent(() => import('./routes/workers.tsx'), 'Workers'),
})
const schedules = createRoute({
  getParentRoute: under,
  path: '/schedules',
  validateSearch: strings('schedule'),
  component: lazyRouteComponent(() => import('./routes/schedules.tsx'), 'Schedules'),
})
const events = createRoute({
  getParentRoute: under,
  path: '/events',
  validateSearch: strings('scope', 'topics', 'task', 'after', 'tab', 'actor', 'action'),
  component: lazyRouteComponent(() => import('./routes/events.tsx'), 'Events'),
})
const settings = createRoute({
  getParentRoute: under,
  path: '/settings',
  component: lazyRouteComponent(() => import('./routes/settings.tsx'), 'Settings'),
})
const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/appearance', replace: true })
  },
})
const settingsAppearance = createRoute({
  getParentRoute: () => settings,
  path: '/appearance',
  component: lazyRouteComponent(() => import('./routes/settings-appearance.tsx'), 'Appearance'),
})
const settingsTokens = createRoute({
  getParentRoute: () => settings,
  path: '/tokens',
  validateSearch: strings('all'),
  component: lazyRouteComponent(() => import('./routes/settings-tokens.tsx'), 'Tokens'),
})
const settingsWebhooks = createRoute({
  getParentRoute: () => settings,
  path: '/webhooks',
  validateSearch: strings('webhook', 'state'),
  component: lazyRouteComponent(() => import('./routes/settings-webhooks.tsx'), 'Webhooks'),
})
const settingsSecrets = createRoute({
  getParentRoute: () => settings,
  path: '/secrets',
  validateSearch: strings('archive'),
  component: lazyRouteComponent(() => import('./routes/settings-secrets.tsx'), 'Secrets'),
})
const settingsHooks = createRoute({
  getParentRoute: () => settings,
  path: '/hooks',
  component: lazyRouteComponent(() => import('./routes/settings-hooks.tsx'), 'Hooks'),
})
const settingsAbout = createRoute({
  getParentRoute: () => settings,
  path: '/about',
  component: lazyRouteComponent(() => import('./routes/settings-about.tsx'), 'About'),
})

const settingsTree = settings.addChildren([
  settingsHome,
  settingsAppearance,
  settingsTokens,
  settingsWebhooks,
  settingsSecrets,
  settingsHooks,
  settingsAbout,
])
const ofArchives = [archives, archive, definitions, revision, revisionTask] as const
const ofTasks = [tasks, task, taskLog, nodes, timeline] as const
const tree = root.addChildren([
  signIn,
  shell.addChildren([overview, ...ofArchives, ...ofTasks, workers, schedules, events, settingsTree]),
])

export const router = createRouter({
  routeTree: tree,
  basepath: basePath === '' ? '/' : basePath,
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: ScreenFailure,
  defaultNotFoundComponent: lazyRouteComponent(() => import('./routes/not-found.tsx'), 'NotFound'),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
