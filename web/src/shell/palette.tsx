import { Search } from 'lucide-react'
import { useState } from 'react'
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components'
import { type Entry, useEntries } from './palette-entries.ts'
import '../parts/confirm.css'
import './palette.css'

/** Goes anywhere and does anything: screens, archives, tasks by number, key or words, an address, actions of the screen. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <ModalOverlay className="veil veil-top" isOpen onOpenChange={(isOpen) => isOpen || onClose()} isDismissable>
      <Modal className="modal palette">
        <Dialog className="palette-dialog" aria-label="Search or go to">
          <Choices onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function Choices({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const { sections, isLooking } = useEntries(text)
  const refused = sections.flatMap(({ entries }) => entries).filter(({ refusal }) => refusal !== undefined)
  const run = (entry: Entry) => {
    onClose()
    entry.run()
  }
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <TextField type="search" className="palette-field" aria-label="Where to go, or what to do" autoFocus>
        <Search aria-hidden size={17} />
        <Input className="palette-input" placeholder="A screen, an archive, a task’s number or key, an address …" />
        <span className="palette-looking" role="status">
          {isLooking ? 'looking …' : ''}
        </span>
      </TextField>
      <Menu
        className="palette-list"
        aria-label="Found"
        items={sections}
        disabledKeys={refused.map(({ id }) => id)}
        renderEmptyState={() => <p className="palette-none muted">Nothing is called so.</p>}
      >
        {({ title, entries }) => (
          <MenuSection id={title} className="palette-section">
            <Header className="palette-title">{title}</Header>
            <Collection items={entries}>
              {(entry) => (
                <MenuItem id={entry.id} className="palette-entry" textValue={entry.label} onAction={() => run(entry)}>
                  <span className="name palette-label">{entry.label}</span>
                  {entry.hint !== undefined && <span className="palette-hint name">{entry.hint}</span>}
                </MenuItem>
              )}
            </Collection>
          </MenuSection>
        )}
      </Menu>
    </Autocomplete>
  )
}
