// Sends a request as it stands: `fetch` would mend the path first.
import { Agent, request } from 'node:http'
import type { Reply } from '../server.ts'

const STREAM_MS = 200 // a stream that is open so long is taken for one that works
const WAIT_MS = 1_500 // a GET may wait for something to happen; nobody else may
const MOST_MS = 20_000

export type Raw = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** The reply; `isOpen` when it is a stream, or a wait, that did not end by itself. */
export type RawReply = Reply & { readonly isOpen: boolean }

export function createSender(url: string): ((raw: Raw) => Promise<RawReply>) & { close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const { hostname, port } = new URL(url)
  const send = ({ method, path, headers, body }: Raw) =>
    new Promise<RawReply>((resolve, reject) => {
      const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
        clearTimeout(timer)
        const chunks: Buffer[] = []
        const answer = (isOpen: boolean) => {
          const text = Buffer.concat(chunks).toString()
          const type = String(response.headers['content-type'] ?? '')
          const isJson = type.includes('json') && !isOpen && text !== ''
          resolve({
            isOpen,
            status: response.statusCode ?? 0,
            headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
            text,
            json: isJson ? JSON.parse(text) : undefined,
          })
        }
        const openFor = setTimeout(() => {
          answer(true)
          response.destroy()
        }, STREAM_MS)
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          clearTimeout(openFor)
          answer(false)
        })
        response.on('error', () => {})
      })
      const timer = setTimeout(
        () => {
          if (method === 'GET') resolve({ isOpen: true, status: 0, headers: new Headers(), text: '', json: undefined })
          else reject(new Error('no answer'))
          sent.destroy()
        },
        method === 'GET' ? WAIT_MS : MOST_MS,
      )
      sent.on('error', (error) => {
        clearTimeout(timer)
        reject(error)
      })
      sent.end(body)
    })
  return Object.assign(send, { close: () => agent.destroy() })
}
