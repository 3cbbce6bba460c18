// A client of the WebSocket.
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { PATIENCE_MS } from './processes.ts'
import { ADMIN } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
type Message = any

export type Talking = {
  readonly socket: WebSocket
  readonly messages: readonly Message[]
  say(message: unknown): void
  /** Resolves with the first message that meets the condition; fails loudly when none comes. */
  until(isMeant: (message: Message) => boolean): Promise<Message>
  /** The events of a subscription, when so many came. */
  events(subscription: string, count: number): Promise<Message[]>
  readonly closed: Promise<{ code: number; reason: string }>
}

export type TalkOptions = { readonly token?: string | null; readonly headers?: Record<string, string> }

/** Opens a WebSocket at the server; closed when the test is over. Rejects with the status when it is refused. */
export async function talkTo(url: string, { token = ADMIN, headers = {} }: TalkOptions = {}): Promise<Talking> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, {
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
  })
  onTestFinished(() => socket.terminate())
  const messages: Message[] = []
  const hearers = new Set<() => void>()
  socket.on('message', (data) => {
    messages.push(JSON.parse((data as Buffer).toString()))
    for (const hear of hearers) hear()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_, response) => {
      let body = ''
      response.on('data', (piece) => {
        body += piece
      })
      response.on('end', () => reject(new Error(`${response.statusCode} ${JSON.parse(body).code}`)))
    })
    socket.once('error', reject)
  })
  const wait = <T>(look: () => T | undefined, what: string) =>
    new Promise<T>((resolve, reject) => {
      const fail = () => reject(new Error(`${what} did not come: ${JSON.stringify(messages).slice(-2000)}`))
      const timer = setTimeout(fail, PATIENCE_MS)
      const hear = () => {
        const found = look()
        if (found === undefined) return
        clearTimeout(timer)
        hearers.delete(hear)
        resolve(found)
      }
      hearers.add(hear)
      hear()
    })
  return {
    socket,
    messages,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    until: (isMeant) => wait(() => messages.find(isMeant), String(isMeant)),
    events: (subscription, count) =>
      wait(() => {
        const found = messages.filter((one) => one.type === 'event' && one.subscription === subscription)
        return found.length >= count ? found : undefined
      }, `${count} events`),
    closed,
  }
}
