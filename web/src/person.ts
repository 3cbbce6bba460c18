/** How somebody is called: the record writes `user:` before the names of people. */
export const personOf = (name: string): string => name.replace(/^user:/, '')
