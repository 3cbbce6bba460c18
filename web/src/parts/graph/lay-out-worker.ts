// Lays graphs out beside the page, which stays as quick as it is.
import { type Box, type Line, layOut } from './lay-out.ts'

type Asked = { readonly id: number; readonly boxes: readonly Box[]; readonly lines: readonly Line[] }

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Asked>) => void) | null
  postMessage(message: unknown): void
}

scope.onmessage = ({ data: { id, boxes, lines } }) => {
  try {
    scope.postMessage({ id, laidOut: layOut(boxes, lines) })
  } catch (error) {
    scope.postMessage({ id, message: (error as Error).message })
  }
}
