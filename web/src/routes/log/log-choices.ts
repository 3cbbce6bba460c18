// How somebody likes to read logs; kept by the browser.
import { useState } from 'react'
import type { Times } from './log-row.tsx'

export type Reading = { readonly isWrapped: boolean; readonly times: Times }

const KEY = 'millrace-log'
const asFirst: Reading = { isWrapped: true, times: 'off' }

function readChoice(): Reading {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Reading>
    const times = kept.times === 'since' || kept.times === 'absolute' ? kept.times : 'off'
    return { isWrapped: kept.isWrapped ?? asFirst.isWrapped, times }
  } catch {
    return asFirst
  }
}

export function useReading(): [Reading, (patch: Partial<Reading>) => void] {
  const [reading, setReading] = useState(readChoice)
  const choose = (patch: Partial<Reading>) => {
    const next = { ...reading, ...patch }
    setReading(next)
    try {
      localStorage.setItem(KEY, JSON.stringify(next))
    } catch {
      // Without storage it lasts as long as the page.
    }
  }
  return [reading, choose]
}
