import { Fragment, type ReactNode } from 'react'
import './facts.css'

/** Names and values of one thing. A value of undefined is left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ReactNode | undefined>> }) {
  return (
    <dl className="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd className="name">{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}
