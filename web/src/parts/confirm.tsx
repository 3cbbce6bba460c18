import { type ReactNode, useState } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from './button.tsx'
import './confirm.css'

export type ConfirmProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** A question: `Cancel 3 tasks?` */
  readonly title: string
  /** What it happens to, by name. */
  readonly objects: readonly string[]
  /** It happens to more than these. */
  readonly isCut?: boolean
  /** What will be, and whether it can be undone. */
  readonly children?: ReactNode
  /** The verb: `Cancel 3 tasks`. */
  readonly action: string
  readonly onConfirm: () => Promise<void>
}

const SHOWN = 12

/** Asks before something that cannot be taken back, and names what it happens to. Stays open when it is refused. */
export function Confirm(props: ConfirmProps) {
  const { isOpen, onClose, title, objects, isCut = false, children, action, onConfirm } = props
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (refused) {
      setError((refused as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <ModalOverlay className="veil" isOpen={isOpen} onOpenChange={(open) => open || onClose()} isDismissable>
      <Modal className="modal">
        <Dialog className="confirm" role="alertdialog">
          <Heading slot="title">{title}</Heading>
          {children}
          <ul className="confirm-objects">
            {objects.slice(0, SHOWN).map((name) => (
              <li key={name} className="mono name">
                {name}
              </li>
            ))}
            {objects.length > SHOWN && (
              <li className="muted">
                and {isCut && 'more than '}
                {objects.length - SHOWN} more
              </li>
            )}
          </ul>
          {error !== undefined && (
            <p className="confirm-error" role="alert">
              {error}
            </p>
          )}
          <div className="row confirm-actions">
            <Button onClick={onClose}>Keep as it is</Button>
            <Button kind="danger" isBusy={isBusy} onClick={() => void confirm()}>
              {action}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
