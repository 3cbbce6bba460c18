import type { CommandFile } from './command.ts'

/** A command by its name, before its file is loaded. */
export type Leaf = { readonly name: string; readonly about: string; readonly load: () => Promise<CommandFile> }
type Branch = {
  readonly name: string
  readonly about: string
  readonly commands: readonly Leaf[]
  /** The one that is meant where none is named. */
  readonly byDefault?: string
}
export type Entry = Leaf | Branch

export const leaf = (name: string, about: string, load: Leaf['load']): Leaf => ({ name, about, load })
