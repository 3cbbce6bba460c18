// Each setting has one row here: its name, how it is given, what it may be and what it does. The command line's flags,
// the checks and the operations guide all come from this table.

export type Setting = {
  /** As in the configuration file; the environment's name is MILLRACE_ and this in capitals. */
  readonly name: string
  readonly flag?: string
  /** The flag names a file that holds the value: a secret on a command line can be read by everyone on the machine. */
  readonly isFlagFile?: boolean
  /** What the value must be, as an error says it. */
  readonly expected: string
  /** The value, or undefined when the text is not what is expected. */
  readonly parse: (text: string) => string | number | undefined
  /** As it would be typed; undefined when the setting is absent unless given. */
  readonly byDefault?: string
  readonly sentence: string
  /** Never printed; may be given as the path of a file in MILLRACE_…_FILE. */
  readonly isSecret?: boolean
  /** Read when the setting's own variable is not set. */
  readonly alsoNamed?: string
  /** Not taken from a configuration file: one that came with a repository could send the token elsewhere. */
  readonly isOwnerOnly?: boolean
  /** A path, relative to the configuration file that names it or else to the working directory. */
  readonly isPath?: boolean
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

// Every command loads this table for its flags, `--help` too: a schema library would cost more than all the rest.
const matching = (pattern: RegExp) => (text: string) => (pattern.test(text) ? text : undefined)
const oneOf = (words: readonly string[]) => (text: string) => (words.includes(text) ? text : undefined)
const addresses =
  /^((loopback|linklocal|uniquelocal|(\d{1,3}\.){3}\d{1,3}(\/\d{1,2})?|[\da-f:]*:[\da-f:.]*(\/\d{1,3})?)(,(?=.)|$))+$/i
const wholeNumber = (max: number) => (text: string) =>
  /^\d+$/.test(text) && Number(text) <= max ? Number(text) : undefined
function serverUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s/?#]/.test(text) || !URL.canParse(text)) return undefined
  const { username, password, search, hash, href } = new URL(text)
  // A user and a password would be sent, and shown, where only the token belongs.
  return username || password || search || hash ? undefined : href.replace(/\/+$/, '')
}

export const settings = [
  {
    name: 'host',
    flag: '--host <address>',
    expected: 'an address or host name to listen on',
    parse: matching(/^[\w.:-]+$/),
    byDefault: '127.0.0.1',
    sentence: 'Address to listen on. Any but a loopback address needs `admin_token` to be set.',
  },
  {
    name: 'port',
    flag: '--port <number>',
    expected: 'a whole number from 0 to 65535 (0 chooses a free port)',
    parse: wholeNumber(65_535),
    byDefault: '7420',
    sentence: 'Port to listen on.',
  },
  {
    name: 'base_path',
    flag: '--base-path <path>',
    expected: 'a path such as /millrace, without a slash at its end',
    parse: matching(/^(\/[\w.~-]+)+$/),
    sentence:
      'Path under which a proxy shows the server and its dashboard. Requests are answered with it and without, so the proxy may take it off or leave it.',
  },
  {
    name: 'data',
    flag: '--data <folder>',
    expected: 'the path of a folder',
    parse: matching(/./),
    byDefault: '.millrace',
    isPath: true,
    sentence: 'Folder for the embedded database, the admin token and other files.',
  },
  {
    name: 'database_url',
    flag: '--database-url <url>',
    expected: 'a URL such as postgresql://user:password@host:5432/database',
    parse: matching(/^postgres(ql)?:\/\/.+/),
    isSecret: true,
    alsoNamed: 'DATABASE_URL',
    sentence: 'PostgreSQL server to use (15 or newer) instead of the embedded one.',
  },
  {
    name: 'admin_token',
    expected: 'at least 16 characters without spaces',
    parse: matching(/^\S{16,}$/),
    isSecret: true,
    sentence: 'Token of the administrator. Without it one is made at first start and kept in `<data>/admin-token`.',
  },
  {
    name: 'secret_key',
    expected: 'at least 32 characters without spaces',
    parse: matching(/^\S{32,}$/),
    isSecret: true,
    sentence:
      'Key with which secrets are sealed, the same on every server and worker of a database. Without it one is made with the first secret and kept in `<data>/secret-key`.',
  },
  {
    name: 'default_image',
    flag: '--default-image <image>',
    expected: 'the name of an image, such as docker.io/library/debian:12',
    parse: matching(/^\w[\w.:@/-]*$/),
    sentence: 'Image in which tasks of archives run that name none. Without it they run on the host of their worker.',
  },
  {
    name: 'migrate',
    flag: '--migrate <when>',
    expected: 'auto or never',
    parse: oneOf(['auto', 'never']),
    byDefault: 'auto',
    sentence:
      'Whether `serve` brings an older schema up to date, or refuses to start until `millrace migrate up` was run.',
  },
  {
    name: 'drain_seconds',
    flag: '--drain-seconds <number>',
    expected: 'a whole number from 0 to 3600',
    parse: wholeNumber(3600),
    byDefault: '30',
    sentence: 'How long a stop waits for requests and tasks under way before it cuts them off.',
  },
  {
    name: 'concurrency',
    flag: '--concurrency <number>',
    expected: 'a whole number from 1 to 10000',
    parse: (text) => (text === '0' ? undefined : wholeNumber(10_000)(text)),
    byDefault: '64',
    sentence:
      'Commands of archives and nodes that this process runs at once. When all places are taken, a free one goes to the archive that runs the fewest.',
  },
  {
    name: 'archive_concurrency',
    flag: '--archive-concurrency <number>',
    expected: 'a whole number from 1 to 10000',
    parse: (text) => (text === '0' ? undefined : wholeNumber(10_000)(text)),
    byDefault: '4',
    sentence:
      'Commands of one archive and queue that run at once, on all servers and workers together. Give every server the same number.',
  },
  {
    name: 'node_concurrency',
    flag: '--node-concurrency <number>',
    expected: 'a whole number from 1 to 10000',
    parse: (text) => (text === '0' ? undefined : wholeNumber(10_000)(text)),
    byDefault: '32',
    sentence:
      'Commands of nodes that run at once, on all servers and workers together. Give every server the same number.',
  },
  {
    name: 'lease_seconds',
    flag: '--lease-seconds <number>',
    expected: 'a whole number from 3 to 3600',
    parse: (text) => (/^[0-2]$/.test(text) ? undefined : wholeNumber(3600)(text)),
    byDefault: '30',
    sentence:
      'How long this process keeps its tasks without a sign of life while the database is there. Then others run them. A longer outage of the database itself takes no task away.',
  },
  {
    name: 'queues',
    flag: '--queues <names>',
    expected: 'names of queues, separated by commas',
    parse: matching(/^\w[\w.-]*(,\w[\w.-]*)*$/),
    byDefault: 'default',
    sentence: 'Queues whose tasks this process runs.',
  },
  {
    name: 'grace_seconds',
    flag: '--grace-seconds <number>',
    expected: 'a whole number from 0 to 3600',
    parse: wholeNumber(3600),
    byDefault: '10',
    sentence: 'How long a command that is stopped has between the signals TERM and KILL.',
  },
  {
    name: 'rate_limit',
    flag: '--rate-limit <number>',
    expected: 'a whole number from 0 to 100000000 (0: without end)',
    parse: wholeNumber(100_000_000),
    byDefault: '6000',
    sentence:
      'Requests that a token or session may send to one server in a minute. Requests without either have a tenth of it for each address, wrong tokens and links a hundredth.',
  },
  {
    name: 'trust_proxy',
    expected: 'addresses or ranges separated by commas, such as 127.0.0.1,10.0.0.0/8, or loopback',
    parse: matching(addresses),
    sentence:
      'Proxies in front of the server. Only from them the `X-Forwarded-For`, `-Proto` and `-Host` headers are believed.',
  },
  {
    name: 'audit_days',
    flag: '--audit-days <number>',
    expected: 'a whole number from 0 to 36500 (0: for ever)',
    parse: wholeNumber(36_500),
    byDefault: '400',
    sentence: 'How long the record of who did what is kept.',
  },
  {
    name: 'outbound_allow',
    expected:
      'hosts, *. and the end of hosts, addresses or ranges, separated by commas, such as hooks.internal,10.0.0.0/8',
    parse: matching(/^[\w.:*/-]+(,[\w.:*/-]+)*$/),
    sentence:
      'What requests to the outside (webhooks, callbacks, downloads) may reach although it is inside: private, loopback, link-local and other addresses that are not public are refused otherwise.',
  },
  {
    name: 'poll_seconds',
    flag: '--poll-seconds <number>',
    expected: 'a whole number from 1 to 86400',
    parse: (text) => (text === '0' ? undefined : wholeNumber(86_400)(text)),
    byDefault: '30',
    sentence: 'How long an archive goes without a look at its repository when no hook announces anything.',
  },
  {
    name: 'log_level',
    flag: '--log-level <level>',
    expected: `one of ${logLevels.join(', ')}`,
    parse: oneOf(logLevels),
    byDefault: 'info',
    sentence: 'How much is logged, on standard error.',
  },
  {
    name: 'log_format',
    flag: '--log-format <format>',
    expected: 'auto, text or json',
    parse: oneOf(['auto', 'text', 'json']),
    byDefault: 'auto',
    sentence: 'Form of the log: readable `text`, or `json` lines. `auto` is text on a terminal, and JSON elsewhere.',
  },
  {
    name: 'url',
    flag: '--server <url>',
    expected: 'a URL such as https://millrace.example.org',
    parse: serverUrl,
    isOwnerOnly: true,
    sentence: 'Server that the commands ask. Without it the one of `millrace login`, or else the one of this machine.',
  },
  {
    name: 'token',
    flag: '--token-file <path>',
    isFlagFile: true,
    expected: 'a token without spaces',
    parse: matching(/^\S+$/),
    isSecret: true,
    isOwnerOnly: true,
    sentence: 'Token that the commands send. Without it the one of `millrace login`, or else of this machine.',
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof settings)[number]['name']

export type Config = {
  readonly host: string
  readonly port: number
  readonly base_path?: string
  readonly data: string
  readonly database_url?: string
  readonly admin_token?: string
  readonly secret_key?: string
  readonly default_image?: string
  readonly migrate: 'auto' | 'never'
  readonly drain_seconds: number
  readonly concurrency: number
  readonly archive_concurrency: number
  readonly node_concurrency: number
  readonly lease_seconds: number
  readonly queues: string
  readonly grace_seconds: number
  readonly rate_limit: number
  readonly trust_proxy?: string
  readonly audit_days: number
  readonly outbound_allow?: string
  readonly poll_seconds: number
  readonly log_level: (typeof logLevels)[number]
  readonly log_format: 'auto' | 'text' | 'json'
  readonly url?: string
  readonly token?: string
}

/** The operations guide's table. */
export function settingsTable(): string {
  const rows = (settings as readonly Setting[]).map((setting) => {
    const variable = `MILLRACE_${setting.name.toUpperCase()}`
    const names = [variable, setting.isSecret ? `${variable}_FILE` : undefined, setting.alsoNamed]
    const given = names.filter((name) => name !== undefined).map((name) => `\`${name}\``)
    const flag = setting.flag ? `\`${setting.flag}\`` : ''
    const byDefault = setting.byDefault === undefined ? '' : `\`${setting.byDefault}\``
    return `| \`${setting.name}\` | ${flag} | ${given.join(', ')} | ${byDefault} | ${setting.sentence} Expected: ${setting.expected}. |`
  })
  return ['| setting | flag | environment | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
}
