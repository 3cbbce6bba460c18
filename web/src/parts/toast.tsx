import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { IconButton } from './button.tsx'
import './toast.css'

type Toast = { readonly id: number; readonly text: string; readonly isError: boolean }

const STAY_MS = 6_000
let toasts: readonly Toast[] = []
let last = 0
const watchers = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const watch of watchers) watch()
}

const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id))

/** Says what came of an action. An error stays until it is closed. */
export function tell(text: string, { isError = false }: { isError?: boolean } = {}): void {
  last += 1
  const id = last
  set([...toasts.slice(-3), { id, text, isError }])
  if (!isError) setTimeout(() => dismiss(id), STAY_MS)
}

/** Where they are shown; once, in the shell. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (onChange) => {
      watchers.add(onChange)
      return () => watchers.delete(onChange)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <div key={id} className={isError ? 'toast toast-error' : 'toast'}>
          <span>{text}</span>
          <IconButton icon={X} label="Close" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
