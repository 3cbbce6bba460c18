// Fields with their names and hints, and a dialog that sends what was filled in.
import {
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { ServerRefused } from '../api.ts'
import { Button } from './button.tsx'
import './confirm.css'
import './form.css'

type Named = { readonly label: string; readonly hint?: ReactNode; readonly isMono?: boolean }

function Frame({ label, hint, id, children }: Named & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <span className="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

const looks = (isMono: boolean) => (isMono ? 'input field-mono' : 'input')

export function TextField({
  label,
  hint,
  isMono = false,
  ...native
}: Named & Omit<InputHTMLAttributes<HTMLInputElement>, 'className'>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} id={id}>
      <input
        {...native}
        id={id}
        className={looks(isMono)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
    </Frame>
  )
}

export function TextArea({
  label,
  hint,
  isMono = true,
  ...native
}: Named & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'className'>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} id={id}>
      <textarea
        {...native}
        id={id}
        className={looks(isMono)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
    </Frame>
  )
}

export function SelectField({
  label,
  hint,
  isMono = false,
  children,
  ...native
}: Named & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'className'>) {
  const id = useId()
  return (
    <Frame label={label} hint={hint} id={id}>
      <select
        {...native}
        id={id}
        className={looks(isMono)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      >
        {children}
      </select>
    </Frame>
  )
}

type FormDialogProps = {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  /** The verb on the button. */
  readonly action: string
  /** Sends it. What it throws is shown, and the dialog stays open with what was filled in. */
  readonly onSubmit: (given: FormData) => Promise<void>
  readonly children: ReactNode
}

/** Asks for something and sends it. */
export function FormDialog({ isOpen, onClose, title, action, onSubmit, children }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit(new FormData(event.currentTarget))
      onClose()
    } catch (refused) {
      setError(refused)
    } finally {
      setBusy(false)
    }
  }
  const close = () => {
    setError(undefined)
    onClose()
  }
  return (
    <ModalOverlay className="veil" isOpen={isOpen} onOpenChange={(open) => open || close()}>
      <Modal className="modal">
        <Dialog className="form-dialog">
          <Heading slot="title">{title}</Heading>
          <form onSubmit={(event) => void submit(event)}>
            {children}
            {error !== undefined && <Refused error={error} />}
            <div className="row form-actions">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                {action}
              </Button>
            </div>
          </form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

/** What the server said to a form, each flaw with its place. */
function Refused({ error }: { readonly error: unknown }) {
  const { errors = [] } = error instanceof ServerRefused ? error.problem : {}
  const remedy = error instanceof ServerRefused ? error.remedy : undefined
  return (
    <div className="form-errors" role="alert">
      {errors.length > 1 ? (
        <ul>
          {errors.map(({ pointer, message }) => (
            <li key={pointer + message}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      ) : (
        <p>{(error as Error).message}</p>
      )}
      {remedy !== undefined && <p>What to do: {remedy}</p>}
    </div>
  )
}
