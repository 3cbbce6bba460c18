// Small promises about the tree itself, of which `npm run check` looks for each.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Text files that git knows or would add, so that what is ignored stays out. */
function readTree(root: string): { file: string; text: string }[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return listed
    .split('\0')
    .filter((file) => file !== '' && !/\.(png|jpg|gif|ico|gz|zip|tgz|woff2|pdf)$/.test(file))
    .filter((file) => existsSync(join(root, file)))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
}

function findLines(tree: { file: string; text: string }[], pattern: RegExp, problem: string): string[] {
  return tree.flatMap(({ file, text }) =>
    text
      .split('\n')
      .flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${problem}: ${line.trim().slice(0, 100)}`] : [])),
  )
}

/** Migrations are numbered from 0001 without gaps, and each begins with a sentence on why it exists. */
function findMigrationProblems(root: string): string[] {
  const folder = join(root, 'migrations')
  if (!existsSync(folder)) return []
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && name !== 'schema.sql')
    .sort()
  const functions = existsSync(join(folder, 'functions')) ? readdirSync(join(folder, 'functions')) : []
  return [
    ...names.flatMap((name, i) => {
      const number = String(i + 1).padStart(4, '0')
      return new RegExp(`^${number}_[a-z0-9_]+\\.sql$`).test(name)
        ? []
        : [`migrations/${name}: expected the name to begin with ${number}_, then lower case words`]
    }),
    ...[...names, ...functions.map((name) => `functions/${name}`)].flatMap((name) => {
      const [first = ''] = readFileSync(join(folder, name), 'utf8').split('\n')
      return /^-- \S+(\s+\S+){3,}/.test(first) ? [] : [`migrations/${name}:1: the first line is a sentence on why`]
    }),
  ]
}

/** No unfinished work and no test that is left out. */
function findMarks(root: string): string[] {
  const tree = readTree(root).filter(({ file }) => !file.startsWith('docs/') && file !== 'package-lock.json')
  const code = tree.filter(({ file }) => /\.(m?[jt]sx?)$/.test(file))
  return [
    // A mark with an issue number is allowed; the words are split here so that this file passes.
    ...findLines(code, new RegExp(`\\b(TO${''}DO|FIX${''}ME|X${''}XX)\\b(?!\\s*\\(?#\\d)`), 'name the issue, or do it'),
    ...findLines(code, /\b(describe|test|it|suite)(\.\w+)*\.(only|skip|todo|fails)\b/, 'every test runs'),
  ]
}

type Lock = { packages: Record<string, Record<string, unknown>> }

/** The lock file agrees with package.json, names no host, and holds the packages of every platform. */
function findLockFileProblems(root: string): string[] {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = JSON.parse(text) as Lock
  const locked = lock.packages[''] ?? {}
  const problems = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((field) =>
    Object.entries((manifest[field] ?? {}) as Record<string, string>).flatMap(([name, version]) => {
      const there = { ...(locked['dependencies'] as object), ...(locked[field] as object) } as Record<string, string>
      if (!/^\d+\.\d+\.\d+/.test(version)) return [`package.json: ${name} ${version} is not one exact version`]
      return there[name] === version
        ? []
        : [`package-lock.json: ${name} is ${there[name]}, package.json has ${version}`]
    }),
  )
  for (const [path, entry] of Object.entries(lock.packages)) {
    // A workspace lies in this tree and is fetched from nowhere: it is a folder, and a link to that folder.
    if (
      entry['link'] === true ? !/^\w+:/.test(String(entry['resolved'])) : !path.includes('node_modules/') && path !== ''
    )
      continue
    if (entry['resolved']) problems.push(`package-lock.json: ${path} names the host it came from`)
    if (path !== '' && !entry['integrity']) problems.push(`package-lock.json: ${path} has no integrity`)
  }
  return [...problems, ...findMissingPackages(lock)]
}

/**
 * Dependencies that the lock file does not hold. npm leaves out an optional package whose version the registry does not
 * have, and keeps it out: `npm ci` then refuses the lock on every machine, and the package is missing on its platform.
 */
function findMissingPackages({ packages }: Lock): string[] {
  const versionNear = (path: string, name: string): unknown => {
    const found = packages[join(path, 'node_modules', name)]
    if (found !== undefined) return found['link'] === true ? 'linked' : found['version']
    return path === '.' ? undefined : versionNear(dirname(path), name)
  }
  return Object.entries(packages).flatMap(([path, entry]) =>
    Object.entries({ ...(entry['dependencies'] as object), ...(entry['optionalDependencies'] as object) }).flatMap(
      ([name, version]) =>
        versionNear(path === '' ? '.' : path, name) === undefined
          ? [`package-lock.json: ${name} ${String(version)}, a dependency of ${path || 'this package'}, is missing`]
          : [],
    ),
  )
}

const BARE_IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'((?:@[a-z][\w.-]*\/)?[a-z][\w.-]*)(?:\/[^']*)?'/gm
/** What `millrace`, the library, ships of the sources; `millrace-server` ships all of them. */
const LIBRARY = /^src\/((db|engine)\/|(index|testing)\.ts$)/

/** The library and the server depend on what their sources import, in the version that this tree is tested with. */
function findManifestProblems(root: string): string[] {
  const readManifest = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const own = readManifest('package.json')
  const server = readManifest('server/package.json')
  const tested: Record<string, string> = { ...own.devDependencies, ...own.dependencies }
  const imported = readTree(root)
    .filter(({ file }) => /^src\/.*\.ts$/.test(file) && !/\.(test|suite)\.ts$/.test(file))
    .flatMap(({ file, text }) => [...text.matchAll(BARE_IMPORT)].map(([, name = '']) => ({ file, name })))
    .filter(({ name }) => name in tested)
  return [
    ...(server.version === own.version ? [] : [`server/package.json: version ${server.version} is not ${own.version}`]),
    ...Object.entries(server.dependencies as Record<string, string>).flatMap(([name, version]) =>
      tested[name] === version ? [] : [`server/package.json: ${name} is ${version}, package.json has ${tested[name]}`],
    ),
    ...imported.flatMap(({ file, name }) => {
      const [manifest, names] = LIBRARY.test(file)
        ? ['package.json', own.dependencies]
        : ['server/package.json', server.dependencies]
      return name in names ? [] : [`${file}: imports ${name}, which is not a dependency in ${manifest}`]
    }),
  ]
}

/** No path of the machine on which a line was written: neither a home folder nor the place of this checkout. */
function findMachinePaths(root: string): string[] {
  const tree = readTree(root).filter(({ file }) => file !== 'package-lock.json')
  const around = dirname(resolve(root))
  const isOwn = !/^\/(|tmp|var|opt|srv|usr|home|Users)$/.test(around)
  const places = ['home/[a-z]', 'Users/[A-Za-z]', 'root/', ...(isOwn ? [`${literally(around.slice(1))}/`] : [])]
  return findLines(tree, new RegExp(`(^|[\\s'"\`(=])(file://)?/(${places.join('|')})`), 'a path of one machine')
}

const literally = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Links between the documents lead to files that exist. */
function findBrokenLinks(root: string): string[] {
  return readTree(root)
    .filter(({ file }) => file.endsWith('.md'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].flatMap(([, target = '']) =>
        existsSync(join(root, dirname(file), target)) ? [] : [`${file}: links to ${target}, which does not exist`],
      ),
    )
}

const tidies = {
  migrations: findMigrationProblems,
  marks: findMarks,
  'lock-file': findLockFileProblems,
  manifests: findManifestProblems,
  paths: findMachinePaths,
  links: findBrokenLinks,
} satisfies Record<string, (root: string) => string[]>

export type Tidy = keyof typeof tidies

/** What is untidy about the tree under `root`, one sentence each. */
export function findUntidy(name: Tidy, root: string): string[] {
  return tidies[name](root)
}
