// The server's side of keeper.pl: a private socket to which keepers connect, and the spawner that forks them.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FrameReader } from './frames.ts'
import { newRunnerId } from './runner-id.ts'

const KEEPER = fileURLToPath(new URL('keeper.pl', import.meta.url))
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
// A keeper writes its runner and marker over the arguments it was started with, so that `ps` and a sweep see them.
const ROOM = '.'.repeat(400)
const HELLO_MS = 10_000
// Kept for the next command, which saves a fork; more than that, and longer, they would only be in the way.
const MOST_IDLE = 16
const IDLE_MS = 10_000
const ROUNDS = 3
const CUT_OFF: readonly number[] = [constants.errno.ENOENT, constants.errno.ECONNREFUSED]

/** There is no spawner. `isFinal` when there cannot be one: Perl or the system is not what it needs. */
export class KeeperUnavailable extends Error {
  readonly code = 'keeper_unavailable'
  readonly isFinal: boolean
  constructor(message: string, isFinal = false) {
    super(message)
    this.isFinal = isFinal
  }
}

/** The keeper could not be forked. */
export class KeeperNotForked extends Error {
  readonly code = 'keeper_not_forked'
  readonly errno: number
  constructor(errno: number) {
    super(`no process could be started for a command (error ${errno})`)
    this.errno = errno
  }
}

export type Keeper = { readonly id: number; readonly socket: Socket; readonly frames: FrameReader }

type Spawner = { readonly child: ChildProcess; readonly groups: string }
type Waiting = { readonly by: ChildProcess; resolve(keeper: Keeper): void; reject(error: Error): void }

export class KeeperHost {
  readonly runnerId = newRunnerId()
  readonly #perl: string
  readonly #secret = randomBytes(24).toString('hex')
  readonly #waiting = new Map<number, Waiting>()
  readonly #idle = new Map<Keeper, () => void>()
  #folder: string | undefined
  #server: Promise<Server> | undefined
  #spawner: Promise<Spawner> | undefined
  #lastId = 0
  #isClosed = false

  constructor(options: { readonly perl?: string } = {}) {
    this.#perl = options.perl ?? 'perl'
  }

  /** Starts the spawner unless it runs. Throws `KeeperUnavailable` where there can be none. */
  async open(): Promise<Spawner> {
    if (this.#isClosed) throw new KeeperUnavailable('the runner is closed')
    this.#server ??= this.#listen().catch((error: unknown) => {
      this.#server = undefined
      throw error
    })
    await this.#server
    this.#spawner ??= this.#spawn()
    return this.#spawner
  }

  /** The control group of a keeper's command, by its folder; undefined where there are none. */
  async groupOf(id: number): Promise<string | undefined> {
    const groups = (await this.#spawner?.catch(() => undefined))?.groups
    return groups ? join(groups, String(id)) : undefined
  }

  /**
   * A keeper that waits for its command. A spawner that dies meanwhile is replaced: a keeper that it may have forked
   * already has an id that is not waited for any more, and is turned away before it has a command.
   */
  async request(): Promise<Keeper> {
    const idle = [...this.#idle].at(-1)
    if (idle !== undefined) {
      const [keeper, take] = idle
      take()
      return keeper
    }
    for (let round = 1; ; round += 1) {
      const { child } = await this.open()
      const [spawner, server] = [this.#spawner, await this.#server]
      this.#lastId += 1
      const id = this.#lastId
      try {
        return await new Promise<Keeper>((resolve, reject) => {
          this.#waiting.set(id, { by: child, resolve, reject })
          server?.ref() // keeps the program alive only while a keeper is waited for
          child.stdin?.write(`${id}\n`)
        })
      } catch (error) {
        const isCutOff = error instanceof KeeperNotForked && CUT_OFF.includes(error.errno)
        if (!(error instanceof KeeperUnavailable || isCutOff) || round === ROUNDS) throw error
        if (isCutOff && spawner === this.#spawner) this.#startAnew() // unless another request has
      } finally {
        this.#waiting.delete(id)
        if (this.#waiting.size === 0) server?.unref()
      }
    }
  }

  /** The socket's file is gone, as when somebody tidied the folder: the next keeper finds another. */
  #startAnew(): void {
    void this.#spawner?.then(({ child }) => child.stdin?.end()).catch(() => {})
    void this.#server?.then((server) => server.close()).catch(() => {})
    this.#removeFolder()
    this.#spawner = undefined
    this.#server = undefined
  }

  /** Takes back a keeper whose command is gone. */
  release(keeper: Keeper): void {
    const { socket } = keeper
    if (socket.destroyed || this.#isClosed || this.#idle.size >= MOST_IDLE) return void socket.destroy()
    const end = () => {
      take()
      socket.destroy()
    }
    const timer = setTimeout(end, IDLE_MS).unref()
    const take = () => {
      clearTimeout(timer)
      for (const event of ['data', 'close', 'error']) socket.removeListener(event, end)
      this.#idle.delete(keeper)
      socket.ref()
    }
    for (const event of ['data', 'close', 'error']) socket.on(event, end)
    socket.unref().resume()
    this.#idle.set(keeper, take)
  }

  /** Ends the spawner once its keepers are gone. Their connections are the callers' matter. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const [keeper, take] of this.#idle) {
      take()
      keeper.socket.destroy()
    }
    const spawner = await this.#spawner?.catch(() => undefined)
    spawner?.child.stdin?.end()
    const server = await this.#server?.catch(() => undefined)
    server?.close()
    this.#removeFolder()
  }

  async #listen(): Promise<Server> {
    this.#folder = await mkdtemp(join(tmpdir(), `millrace-${this.runnerId}-`))
    process.once('exit', this.#removeFolder)
    const server = createServer((socket) => this.#welcome(socket))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: join(this.#folder ?? '', 'keepers'), backlog: 4096 }, resolve)
    })
    server.on('error', () => {}) // of a connection that could not be taken: its keeper says so
    return server.unref()
  }

  readonly #removeFolder = () => {
    process.removeListener('exit', this.#removeFolder)
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }

  #spawn(): Promise<Spawner> {
    // A session of its own: an interrupt from the terminal is for the server, which decides what becomes of commands.
    const child = spawn(this.#perl, [KEEPER, ROOM], {
      cwd: '/',
      env: { PATH },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const starting = new Promise<Spawner>((resolve, reject) => {
      const end = (why: string, isFinal = false) => {
        if (this.#spawner === starting) this.#spawner = undefined
        const error = new KeeperUnavailable(why, isFinal)
        reject(error)
        for (const waiting of this.#waiting.values()) if (waiting.by === child) waiting.reject(error)
      }
      child.once('error', (error: NodeJS.ErrnoException) =>
        end(`perl cannot be started: ${error.message}`, error.code === 'ENOENT' || error.code === 'EACCES'),
      )
      child.once('exit', () => end('the spawner ended'))
      let text = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        const lines = (text + part).split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const [, word, rest = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
          if (word === 'ready') resolve({ child, groups: rest })
          if (word === 'fatal') end(rest, true)
          if (word === 'failed') this.#fail(rest)
        }
      })
    })
    child.stdin.on('error', () => {}) // its exit is heard of above
    child.stdin.write(`${this.#secret}\n${join(this.#folder ?? '', 'keepers')}\n${this.runnerId}\n`)
    // From then on it keeps no program alive.
    const unref = () => {
      for (const one of [child, child.stdin as Socket, child.stdout as Socket]) one.unref()
    }
    void starting.then(unref, unref)
    return starting
  }

  #fail(text: string): void {
    const [id, errno] = text.split(' ').map(Number)
    this.#waiting.get(id ?? 0)?.reject(new KeeperNotForked(errno ?? 0))
  }

  #welcome(socket: Socket): void {
    const frames = new FrameReader()
    const timer = setTimeout(() => socket.destroy(), HELLO_MS)
    const leave = () => socket.destroy()
    socket.on('error', leave)
    socket.once('data', (chunk: Buffer) => {
      clearTimeout(timer)
      socket.removeListener('error', leave)
      const waiting = this.#recognise(frames, chunk)
      if (waiting === undefined) {
        socket.on('error', leave)
        socket.destroy()
      } else {
        waiting.resolve({ id: waiting.id, socket, frames })
      }
    })
  }

  /** The request that the keeper answers to, when it says the secret. */
  #recognise(frames: FrameReader, chunk: Buffer): (Waiting & { id: number }) | undefined {
    try {
      const [hello] = frames.read(chunk)
      if (hello?.type !== 'H') return undefined
      const [secret = '', id = ''] = hello.payload.toString('latin1').split(' ')
      if (secret.length !== this.#secret.length) return undefined
      if (!timingSafeEqual(Buffer.from(secret), Buffer.from(this.#secret))) return undefined
      const waiting = this.#waiting.get(Number(id))
      this.#waiting.delete(Number(id))
      return waiting && { ...waiting, id: Number(id) }
    } catch {
      return undefined
    }
  }
}
