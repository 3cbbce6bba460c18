import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button as AriaButton, Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import './button.css'
import './menu.css'

export type MenuAction = {
  readonly id: string
  readonly label: string
  readonly onAction: () => void
  readonly isChosen?: boolean
  /** Why it cannot be done. */
  readonly refusal?: string | undefined
}

type MenuProps = {
  /** The name of the button that opens it. */
  readonly label: string
  readonly icon?: LucideIcon
  readonly children?: ReactNode
  readonly actions: readonly MenuAction[]
}

/** A button that opens a list of actions. */
export function Menu({ label, icon: Icon, children, actions }: MenuProps) {
  const disabled = actions.filter(({ refusal }) => refusal !== undefined).map(({ id }) => id)
  const look = children === undefined ? 'button button-quiet button-icon' : 'button button-quiet'
  return (
    <MenuTrigger>
      <AriaButton className={look} aria-label={label}>
        {Icon && <Icon aria-hidden size={16} />}
        {children}
      </AriaButton>
      <Popover className="menu-popover" placement="bottom end">
        <AriaMenu className="menu" disabledKeys={disabled} aria-label={label}>
          {actions.map(({ id, label: text, onAction, isChosen, refusal }) => (
            <MenuItem key={id} id={id} className="menu-item" onAction={onAction} textValue={text}>
              <span className="menu-mark" aria-hidden="true">
                {isChosen ? '✓' : ''}
              </span>
              <span>
                {text}
                {isChosen && <span className="visually-hidden">, chosen</span>}
                {refusal !== undefined && <small className="menu-refusal">{refusal}</small>}
              </span>
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
