// Takes the pictures in docs/pictures: of a real server with a real repository that the demonstration commits to, and with
// commands that print, go on and fail. It can be run at any time; the pictures of before are replaced.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type Client, createClient, routes } from '../src/api/index.ts'
import { squeezePng } from './squeeze-png.ts'

const PICTURES = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
const ARCHIVE = 'On Mills'
/** So many revisions there are when the pictures are taken; from the fifth on the printer is off. */
const REVISIONS = 9
const PATIENCE_MS = 300_000
const WIDTH = 1280
const HEIGHT = 800
const themes = ['light', 'dark'] as const

type Demo = { readonly url: string; readonly client: Client; readonly data: string; readonly child: ChildProcess }

async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(500)) if (await isSo()) return
  throw new Error(`${what} did not happen within ${PATIENCE_MS / 1000} s`)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

/** Starts the demonstration, and answers when its story has been told. */
async function startDemo(data: string): Promise<Demo> {
  const port = await freePort()
  const args = ['demo', '--data', data, '--port', String(port), '--every', '2s']
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const hasEnded = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the demonstration ended with ${code}`)))
  })
  hasEnded.catch(() => undefined)
  const told = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      process.stderr.write(`  ${line}\n`)
      if (line.startsWith('That was the story')) resolve()
    })
  })
  await Promise.race([told, hasEnded])
  const url = `http://127.0.0.1:${port}`
  const token = (await readFile(join(data, 'admin-token'), 'utf8')).trim()
  return { url, client: createClient({ url, token }), data, child }
}

const command = (text: string, parent = 'root') => ({
  metadata: { type: 'command' as const, parent },
  data: { command: 'sh', args: ['-c', text] },
})

/** Something that prints, something that goes on, something that fails: and the printer is switched off again. */
async function addMore({ client, data }: Demo): Promise<string> {
  await rm(join(data, 'the-printer-is-on'), { force: true })
  const colours = `for part in water wheel stones sacks; do printf '\\033[36mgrinding\\033[0m %s\\n' "$part"; done`
  const compiling = `for i in $(seq 1 60); do echo "[$i/60] compiling mill_$i.c"; done`
  const broken = `echo "mill_61.c:17:5: error: 'wheel' undeclared (first use in this function)" >&2; exit 2`
  await client.call(routes.nodes.add, {
    body: [
      command(colours),
      command('echo the sacks are counted', '#0'),
      command('sleep 600', '#0'),
      command(`${compiling}; ${broken}`),
      command('echo installed', '#3'),
    ],
  })
  await waitUntil(`revision ${REVISIONS}`, async () => {
    const { planned } = await client.call(routes.archives.get, { params: { name: ARCHIVE } })
    return planned.number >= REVISIONS
  })
  let failed: string | undefined
  await waitUntil('the failure of a command', async () => {
    const { items } = await client.call(routes.tasks.list, { query: { state: 'failed', scope: 'node' } as never })
    failed = items[0]?.id
    return failed !== undefined
  })
  return failed ?? ''
}

type Shot = { readonly name: string; readonly path: string; readonly prepare?: (page: Page) => Promise<void> }

const shots = (failed: string): readonly Shot[] => [
  { name: 'overview', path: '/' },
  { name: 'archives', path: '/archives' },
  { name: 'loom', path: `/archives/${encodeURIComponent(ARCHIVE)}` },
  { name: 'revision', path: `/archives/${encodeURIComponent(ARCHIVE)}/r/4` },
  { name: 'tasks', path: '/tasks' },
  { name: 'task', path: `/tasks/${failed}` },
  { name: 'log', path: `/tasks/${failed}/log` },
  { name: 'trees', path: '/nodes' },
  { name: 'timeline', path: '/timeline' },
  {
    name: 'palette',
    path: '/tasks',
    prepare: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('searchbox').fill('print')
      await page
        .getByRole('menuitem', { name: /:print/ })
        .first()
        .waitFor()
    },
  },
]

async function take(browser: Browser, { url, client }: Demo, failed: string): Promise<void> {
  for (const theme of themes) {
    const context = await browser.newContext({
      viewport: { width: WIDTH, height: HEIGHT },
      colorScheme: theme,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    await page.goto((await client.call(routes.session.link, { body: { name: 'miller' } })).url)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    for (const { name, path, prepare } of shots(failed)) {
      await page.goto(url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
      await page.getByRole('button', { name: /^live/ }).waitFor()
      await prepare?.(page)
      // The picture is of what has been painted, and some of it is painted in the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      const png = squeezePng(await page.screenshot())
      await writeFile(join(PICTURES, `${name}-${theme}.png`), png)
      process.stderr.write(`${name}-${theme}.png ${(png.length / 1024).toFixed(0)} KB\n`)
    }
    await context.close()
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

const data = await realpath(await mkdtemp(join(tmpdir(), 'millrace-pictures-')))
// The database runs as another user when this one is root.
await chmod(data, 0o755)
await mkdir(PICTURES, { recursive: true })
let demo: Demo | undefined
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  demo = await startDemo(data)
  await take(browser, demo, await addMore(demo))
} finally {
  await browser.close()
  if (demo !== undefined) await stop(demo.child)
  await rm(data, { recursive: true, force: true })
}
