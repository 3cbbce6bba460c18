import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import '../parts/confirm.css'
import '../parts/button.css'

/** Opens the palette: a number or a natural key leads to its task, anything else searches the tasks. */
export function PaletteButton() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="palette-button" aria-label="Search or go to" onClick={() => setOpen(true)}>
        <Search aria-hidden size={15} />
        <span>Search or go to …</span>
      </button>
      <ModalOverlay className="veil" isOpen={isOpen} onOpenChange={setOpen} isDismissable>
        <Modal className="modal">
          <Dialog className="confirm" aria-label="Search or go to">
            <GoTo onDone={() => setOpen(false)} />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  )
}

const IS_KEY = /^(\d{1,19}|.+@\d+:.+)$/

function GoTo({ onDone }: { readonly onDone: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const go = (event: FormEvent) => {
    event.preventDefault()
    const wanted = text.trim()
    if (IS_KEY.test(wanted)) void navigate({ to: '/tasks/$id', params: { id: wanted } })
    else void navigate({ to: '/tasks', search: wanted === '' ? {} : { q: wanted } })
    onDone()
  }
  return (
    <form className="row" onSubmit={go}>
      <input
        className="input"
        aria-label="A task's number or key, or words to search tasks for"
        placeholder="My-Project@12:index, 4711, state:failed …"
        value={text}
        onChange={(event) => setText(event.target.value)}
        // biome-ignore lint/a11y/noAutofocus: a dialog that was asked for begins in its only field
        autoFocus
      />
      <button type="submit" className="button button-primary">
        Go
      </button>
    </form>
  )
}
