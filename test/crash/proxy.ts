// A wire between clients and a PostgreSQL server that the test can cut, stall, or make lose an answer.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export type Wiring = AsyncDisposable & {
  readonly databaseUrl: string
  /** Takes bytes on both sides and passes none on; new connections are taken and lead nowhere. */
  stall(): void
  /** Breaks every connection, and each new one as soon as it is made. */
  refuse(): void
  /** Passes on what was held back, and everything after it. */
  flow(): void
  /** Breaks every connection. */
  cut(): void
  /** Connections made from now on work; those there are stay stalled for ever, as after a lost route. */
  strand(): void
  /** Once: lets a client's message that matches through, and breaks its connection instead of passing on the answer. */
  loseAnswerTo(pattern: RegExp): Promise<void>
}

type Wire = { readonly client: Socket; readonly server: Socket; isStranded: boolean }

/** Where the server of the URL listens: a socket in the folder its `host` names, or an address. */
export function addressOf(databaseUrl: string): { path: string } | { host: string; port: number } {
  const url = new URL(databaseUrl)
  const folder = url.searchParams.get('host')
  if (folder !== null) return { path: join(folder, `.s.PGSQL.${url.port || 5432}`) }
  return { host: url.hostname, port: Number(url.port || 5432) }
}

export async function proxyTo(databaseUrl: string): Promise<Wiring> {
  const target = addressOf(databaseUrl)
  const wires = new Set<Wire>()
  let isStalled = false
  let isRefusing = false
  let losing: { pattern: RegExp; done: () => void } | undefined

  const pass = (wire: Wire, from: Socket, to: Socket) => {
    from.on('data', (bytes) => {
      if (from === wire.server && losingWires.delete(wire)) return end(wire)
      if (from === wire.client && losing !== undefined && losing.pattern.test(bytes.toString('latin1'))) {
        losingWires.add(wire)
        losing.done()
        losing = undefined
      }
      if (isStalled || wire.isStranded) from.pause()
      to.write(bytes)
      return undefined
    })
    from.on('error', () => end(wire))
    from.on('close', () => end(wire))
  }
  const losingWires = new Set<Wire>()
  const end = (wire: Wire) => {
    wires.delete(wire)
    wire.client.destroy()
    wire.server.destroy()
  }
  const listener: Server = createServer((client) => {
    if (isRefusing) return client.destroy()
    const wire: Wire = { client, server: connect(target), isStranded: false }
    wires.add(wire)
    pass(wire, client, wire.server)
    pass(wire, wire.server, client)
    if (isStalled) setStill(wire, true)
    return undefined
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String(port)

  const proxy: Wiring = {
    databaseUrl: url.href,
    stall() {
      isStalled = true
      for (const wire of wires) setStill(wire, true)
    },
    refuse() {
      isRefusing = true
      proxy.cut()
    },
    flow() {
      isStalled = isRefusing = false
      for (const wire of wires) if (!wire.isStranded) setStill(wire, false)
    },
    cut() {
      for (const wire of Array.from(wires)) end(wire)
    },
    strand() {
      for (const wire of wires) {
        wire.isStranded = true
        setStill(wire, true)
      }
      proxy.flow()
    },
    loseAnswerTo: (pattern) =>
      new Promise((resolve) => {
        losing = { pattern, done: resolve }
      }),
    async [Symbol.asyncDispose]() {
      proxy.cut()
      listener.close()
    },
  }
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return proxy
}

function setStill(wire: Wire, isStill: boolean): void {
  for (const socket of [wire.client, wire.server]) {
    if (isStill) socket.pause()
    else socket.resume()
  }
}
