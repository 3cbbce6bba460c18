import { type ReactNode, useRef } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'
import { useTabInSight } from './tab-in-sight.ts'
import './tabs.css'

export type TabItem = { readonly id: string; readonly label: ReactNode; readonly content: ReactNode }

type TabsProps = {
  readonly label: string
  readonly items: readonly TabItem[]
  /** Which is open; keep it in the address, so that it can be linked to. */
  readonly open: string
  readonly onOpen: (id: string) => void
}

/** Parts of a page of which one is shown. */
export function Tabs({ label, items, open, onOpen }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  useTabInSight(list, open)
  return (
    <AriaTabs className="tabs" selectedKey={open} onSelectionChange={(key) => onOpen(String(key))}>
      <TabList ref={list} className="tab-list" aria-label={label}>
        {items.map(({ id, label: text }) => (
          <Tab key={id} id={id} className="tab">
            {text}
          </Tab>
        ))}
      </TabList>
      {items.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
