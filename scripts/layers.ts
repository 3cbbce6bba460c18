// Compares the imports in src/ with the table in ARCHITECTURE.md. The page is the rule: a change of the table
// is a change of the architecture. The other absences that the page promises are looked for here too.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { filesUnder, lineOf, readSource } from './source.ts'

const COMPOSITION_ROOT = ['main', 'foundation', 'log', 'work', 'parts', 'bin', 'index', 'testing']
const PATH = /`((?:src|migrations)\/[^`]*)`/g
const ROW = /^\| `([\w-]+)`\s*\|[^|]*\|([^|]*)\|/gm
const IMPORT = /\b(?:from|import)\s*\(?\s*(['"])/g
const SQL =
  /^\s*(--[^\n]*\n\s*)*(select\s[\s\S]+\sfrom\s|select\s+[\w.]+\(|insert\s+into\s|update\s+[\w."]+\s+set\s|delete\s+from\s|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\s+(not\s+)?(materialized\s*)?\(|(create|alter|drop)\s+(table|index|type|function|schema|view|sequence|database|role|trigger)\s|truncate\s+[\w."]+\s*(,|;|cascade|$)|(listen|notify|savepoint)\s+[\w"]+\s*;?$)/i

type Place = {
  readonly root: string
  /** As in the report: `src/engine/claim.ts`. */
  readonly file: string
  /** The folder below src/, or undefined for a file of the composition root. */
  readonly folder: string | undefined
  readonly isTest: boolean
}

/** Every way in which the tree under `root` departs from its architecture page, one sentence each. */
export function findLayerProblems(root: string): string[] {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const allowed = readTable(page)
  return [
    ...findLostPaths(root, page),
    ...findDoorProblems(root, allowed),
    ...filesUnder(join(root, 'src'))
      .filter((file) => file.endsWith('.ts'))
      .flatMap((path) => {
        const file = relative(root, path)
        const parts = file.split(sep)
        const place = { root, file, folder: parts.length > 2 ? parts[1] : undefined, isTest: isTest(file) }
        return [...findRootProblems(place), ...findFileProblems(place, readFileSync(path, 'utf8'), allowed)]
      }),
    ...findDashboardProblems(root),
  ]
}

/** What of the program the dashboard may load: the client. The door of `api` would bring the schemas along. */
const CLIENT = join('src', 'api', 'client.ts')
const CONTRACT = join('src', 'api', 'index.ts')

/** The dashboard sees the program through `api` alone, and of its door the types alone. */
function findDashboardProblems(root: string): string[] {
  const folder = join(root, 'web', 'src')
  if (!existsSync(folder)) return []
  return filesUnder(folder)
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((path) => {
      const file = relative(root, path)
      const text = readFileSync(path, 'utf8')
      const { code, strings } = readSource(text)
      return [...code.matchAll(IMPORT)].flatMap((match) => {
        const at = match.index + match[0].length - 1
        const spec = strings.find((string) => string.at === at)?.text ?? ''
        if (!spec.startsWith('.')) return []
        const target = relative(root, normalize(join(root, dirname(file), spec)))
        const isOwn = target.startsWith(join('web', 'src') + sep) || target === CLIENT
        const statement =
          code
            .slice(0, match.index)
            .split(/\bimport\b|\bexport\b/)
            .at(-1) ?? ''
        if (isOwn || (target === CONTRACT && /^\s*type\b/.test(statement))) return []
        return [
          `${file}:${lineOf(text, at)}: imports ${target}; of the program web loads ${CLIENT}, and types of ${CONTRACT}`,
        ]
      })
    })
}

type Allowed = ReadonlyMap<string, ReadonlySet<string>>

function readTable(page: string): Allowed {
  return new Map(
    [...page.matchAll(ROW)].map(([, folder = '', imports = '']) => [
      folder,
      new Set([...imports.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)),
    ]),
  )
}

/** What the page sends its reader to must be there. */
function findLostPaths(root: string, page: string): string[] {
  return [...page.matchAll(PATH)]
    .filter(([, path = '']) => !existsSync(join(root, path)))
    .map(([, path]) => `ARCHITECTURE.md: there is no ${path}`)
}

const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file)

function findDoorProblems(root: string, allowed: Allowed): string[] {
  return readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const door = join('src', name, 'index.ts')
      if (!allowed.has(name)) return [`src/${name}: the folder is missing from the table in ARCHITECTURE.md`]
      if (!existsSync(join(root, door))) return [`${door}: the folder has no door`]
      const { code } = readSource(readFileSync(join(root, door), 'utf8'))
      return /export\s*\*/.test(code) ? [`${door}: a door lists its exports by name, without export *`] : []
    })
}

function findRootProblems({ file, folder }: Place): string[] {
  const name = file.split(sep).at(-1)?.split('.')[0] ?? ''
  if (folder !== undefined || COMPOSITION_ROOT.includes(name)) return []
  return [`${file}: only ${COMPOSITION_ROOT.join(', ')} lie outside a folder`]
}

function findFileProblems(place: Place, text: string, allowed: Allowed): string[] {
  const { code, strings } = readSource(text)
  const problems: string[] = []
  const report = (at: number, problem: string) => problems.push(`${place.file}:${lineOf(text, at)}: ${problem}`)

  for (const match of code.matchAll(IMPORT)) {
    const at = match.index + match[0].length - 1
    const spec = strings.find((string) => string.at === at)?.text ?? ''
    const problem = judgeImport(place, spec, allowed)
    if (problem) report(at, problem)
  }
  const mayReadEnvironment = place.folder === 'config' || place.isTest
  const environment = code.search(/\bprocess\s*\.\s*env\b|\bprocess\[/)
  if (environment >= 0 && !mayReadEnvironment) report(environment, 'only config reads the environment')
  const mayHoldSql = place.folder === 'db' || place.file.endsWith('.sql.ts') || place.isTest
  const sql = strings.find((string) => SQL.test(string.text))
  if (sql && !mayHoldSql) report(sql.at, 'SQL belongs into a .sql.ts file')
  return problems
}

function judgeImport(place: Place, spec: string, allowed: Allowed): string | undefined {
  const { root, file, folder, isTest } = place
  if (/^pg(\/|$)/.test(spec) && folder !== 'db' && !isTest) return 'only db imports pg'
  if (!spec.startsWith('.')) return undefined
  const target = relative(root, normalize(join(root, dirname(file), spec)))
  const [top, to = '', ...rest] = target.split(sep)
  if (top === 'test' && isTest) return undefined
  if (top !== 'src') return `imports ${target}, which is outside src`
  if (folder === undefined || to === folder) return undefined
  if (rest.length === 0) return `${folder} imports ${target}, which belongs to the composition root`
  if (!allowed.get(folder)?.has(to)) return `${folder} may not import ${to}`
  if (rest.join('/') !== 'index.ts') return `imports ${target} and not the door src/${to}/index.ts`
  return undefined
}
