import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Anchor = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly ref?: Ref<HTMLAnchorElement> }

function PlainAnchor(props: Anchor) {
  // biome-ignore lint/a11y/useAnchorContent: whoever uses the link gives its content
  return <a {...props} />
}

/** A link to a screen: `<Link to="/tasks/$id" params={{ id }}>…</Link>`. The path is checked by the compiler. */
export const Link = createLink(PlainAnchor)
