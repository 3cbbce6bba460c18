// What `millrace help TOPIC` explains: what holds for many commands and belongs to none of them.
import { type ExitName, exitCodes, exitMeanings } from './exit.ts'

type Topic = { readonly name: string; readonly about: string; readonly text: string }

const exits = (Object.keys(exitCodes) as ExitName[])
  .map((name) => `  ${String(exitCodes[name]).padStart(3)}  ${exitMeanings[name]}`)
  .join('\n')

export const topics: readonly Topic[] = [
  {
    name: 'server',
    about: 'which server a command asks, and as whom',
    text: `Which server: --server URL, else MILLRACE_URL, else the context in use (\`millrace context ls\`), else the
server of this machine with the settings in force here.

Which token: that of the file --token-file names, else MILLRACE_TOKEN or the file that MILLRACE_TOKEN_FILE
names, else the one \`millrace login\` kept for that server, else, for the server of this machine alone, the
administrator's in its data folder. A kept token goes to the server it was kept for and to no other.

\`millrace status\` says which server and which token are in use.`,
  },
  {
    name: 'ids',
    about: 'how a task is named',
    text: `A task is named by its number (118), by its natural key (My-Project@12:index, or scope/key, for a
node node/1), or by the address of its page in the dashboard, pasted.

Nodes, tokens, schedules and webhooks are named by their numbers, archives by their names.`,
  },
  {
    name: 'filter',
    about: 'the search of `ls` and --filter',
    text: `Words must all be found in the kind, scope or key of a task. Of a qualifier that is given several times,
one must fit; a star at the end stands for anything; quotation marks keep spaces together.

  state:failed      one of waiting, delayed, ready, running, held, succeeded, failed, canceled, skipped
  scope:archive:*   the line that a task belongs to
  kind:node         the worker that performs it
  queue:heavy       the lane that dispatchers listen to
  key:12:index      its key within the scope
  id:118            its number
  is:stuck          ready, and no worker runs its kind

  millrace ls 'state:failed,canceled scope:archive:*'
  millrace retry --filter 'state:failed kind:node' --dry-run`,
  },
  {
    name: 'output',
    about: 'what is printed where, and for programs',
    text: `Data goes to standard output, everything else to standard error. Into a pipe there are no colours, nothing
is cut and nothing is animated.

  --json            JSON, on every command; a list is an array
  --json=id,state   these fields alone
  --ndjson          one JSON value a line, as things happen (events, logs, watch, top)
  --plain           values separated by tabs, without a header; times as RFC 3339
  -q, --quiet       ids alone: of a list, and of what a command adds or changes; else nothing
  --color WHEN      auto, always or never; NO_COLOR and FORCE_COLOR are heard

An error is on standard error, in a line each: what happened, why, what to do. With --json or --ndjson it is
one JSON object with the members code, title, detail and remedy.`,
  },
  {
    name: 'exit-codes',
    about: 'what the exit code of a command says',
    text: `${exits}

\`wait\`, \`watch\` and \`node wait\` end with 0, 20, 21 or 22 by themselves.`,
  },
  {
    name: 'settings',
    about: 'where settings come from',
    text: `A flag wins over MILLRACE_ and the name of the setting in capitals (MILLRACE_PORT), which wins over the
nearest millrace.config.yaml in this folder or above it, up to the root of the repository, which wins over
the default. A secret may be given as the path of a file: MILLRACE_ADMIN_TOKEN_FILE.

\`millrace config explain\` prints every setting, its value and where that came from; \`config set\` writes one.`,
  },
]
