import { Fragment } from 'react'

/** A name, an id or a path, which may take another line after each part of it and not in the middle of a word. */
export function Breakable({ text }: { readonly text: string }) {
  return text.split(/(?<=[:/@._-])/).map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text keep their places
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
