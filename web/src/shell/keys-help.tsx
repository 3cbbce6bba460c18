import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { chooseLetterKeys, isLetterKey, useKeyGroups, useLetterKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import '../parts/confirm.css'
import './keys-help.css'

const isMac = /mac/i.test(navigator.platform)

/** What a key is called on the keyboard in front of us. */
const partsOf = (key: string) =>
  key.split(' ').map((part) =>
    part
      .replace('Mod+', isMac ? '⌘' : 'Ctrl+')
      .replace(/^Arrow(.*)/, (_, way: string) => ({ Up: '↑', Down: '↓', Left: '←', Right: '→' })[way] ?? way)
      .replace(/\+([a-z])$/, (_, letter: string) => `+${letter.toUpperCase()}`),
  )

/** Every key that works here and now. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const groups = useKeyGroups()
  const hasLetters = useLetterKeys()
  return (
    <ModalOverlay className="veil" isOpen onOpenChange={(isOpen) => isOpen || onClose()} isDismissable>
      <Modal className="modal keys-modal">
        <Dialog className="confirm">
          <Heading slot="title">Keys</Heading>
          {[...groups].reverse().map(({ title, keys }) => (
            <section key={title}>
              <h3 className="keys-title">{title}</h3>
              <dl className="keys">
                {keys.flatMap(({ key, label, refusal }) =>
                  key === undefined
                    ? []
                    : [
                        <div key={key} className="keys-row" data-off={(!hasLetters && isLetterKey(key)) || undefined}>
                          <dt>
                            {label}
                            {refusal !== undefined && <small className="muted"> {refusal}</small>}
                          </dt>
                          <dd>
                            {partsOf(key).map((part, i) => (
                              <span key={part}>
                                {i > 0 && ' then '}
                                <kbd>{part}</kbd>
                              </span>
                            ))}
                          </dd>
                        </div>,
                      ],
                )}
              </dl>
            </section>
          ))}
          <label className="row">
            <input type="checkbox" checked={hasLetters} onChange={({ target }) => chooseLetterKeys(target.checked)} />
            Keys of a single character
          </label>
          <div className="row confirm-actions">
            <Button onClick={onClose}>Close</Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
