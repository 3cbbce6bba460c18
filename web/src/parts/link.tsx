import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Anchor = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly ref?: Ref<HTMLAnchorElement> }

function PlainAnchor(props: Anchor) {
  return <a {...props} />
}

/** A link to a screen: `<Link to="/tasks/$id" params={{ id }}>…</Link>`. The path is checked by the compiler. */
export const Link = createLink(PlainAnchor)
