type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without what is undefined: an option that is left out is not given as undefined. */
export function optional<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>
}
