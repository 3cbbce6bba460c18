// The part of an address behind the `?`. Everything there is text, as people write and read it: no quotes, no JSON.

type Search = { readonly [name: string]: string | undefined }

export function readSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function writeSearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  if (pairs.length === 0) return ''
  return `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

/** Takes the named parameters of an address and leaves out what a screen does not know. */
export function strings<const N extends string>(...names: readonly N[]) {
  return (search: Search): { [name in N]?: string | undefined } => {
    const known = names.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]] as const]))
    return Object.fromEntries(known) as { [name in N]?: string | undefined }
  }
}
