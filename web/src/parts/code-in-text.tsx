/** A sentence of the server, in which commands and names stand between backticks. */
export function CodeInText({ text }: { readonly text: string }) {
  return text.split(/`([^`]+)`/).map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence keep their places
    i % 2 === 0 ? part : <code key={i}>{part}</code>,
  )
}
