import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import './button.css'

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'className' | 'children'>

export type ButtonProps = Native & {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly icon?: LucideIcon
  /** Why it cannot be pressed. It stays reachable, so that everybody can learn the reason. */
  readonly refusal?: string | undefined
  readonly isBusy?: boolean
  readonly children: ReactNode
}

export function Button({ kind = 'plain', icon: Icon, refusal, isBusy = false, children, ...native }: ButtonProps) {
  const isOff = refusal !== undefined || isBusy
  return (
    <button
      type="button"
      {...native}
      className={`button button-${kind}`}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      title={refusal ?? native.title}
      onClick={isOff ? (event) => event.preventDefault() : native.onClick}
    >
      {Icon && <Icon aria-hidden size={15} />}
      {children}
    </button>
  )
}

/** A button that is only a picture; `label` is its name. */
export function IconButton({
  icon: Icon,
  label,
  refusal,
  ...native
}: Native & { readonly icon: LucideIcon; readonly label: string; readonly refusal?: string | undefined }) {
  const isOff = refusal !== undefined
  return (
    <button
      type="button"
      {...native}
      className="button button-quiet button-icon"
      aria-label={label}
      aria-disabled={isOff || undefined}
      title={refusal ?? label}
      onClick={isOff ? (event) => event.preventDefault() : native.onClick}
    >
      <Icon aria-hidden size={16} />
    </button>
  )
}
