/** Of the address: which attempt, which stream, what is searched for. */
export type LogChoice = { [name in 'attempt' | 'stream' | 'q' | 'regex' | 'case']?: string | undefined }

export type LogChoicePatch = { [name in keyof LogChoice]: string | undefined }

/** Search parameters with some changed; those that are undefined are gone. */
export function changed<S extends object>(search: S, patch: { [name in keyof S]?: string | undefined }): S {
  return Object.fromEntries(Object.entries({ ...search, ...patch }).filter(([, value]) => value !== undefined)) as S
}
