import type { Command } from 'commander'
import type { Place } from '../hooks/index.ts'
import { UsageError } from './exit.ts'

export type PlaceOptions = { readonly svn?: string; readonly git?: string }

/** Gives a command the options that say whose hooks are meant. */
export function addPlace(command: Command): Command {
  return command
    .option('--svn <path>', 'a Subversion repository on this host')
    .option('--git <path>', 'a git repository on this host, bare or with a work tree')
}

export function placeOf({ svn, git }: PlaceOptions): Place {
  if (svn !== undefined && git === undefined) return { kind: 'svn', path: svn }
  if (git !== undefined && svn === undefined) return { kind: 'git', path: git }
  throw new UsageError('say whose hooks are meant', 'give --svn PATH or --git PATH, and not both')
}

/** The archive that the hooks tell. */
export function archiveOf({ archive }: { readonly archive?: string }): string {
  if (archive !== undefined && archive !== '') return archive
  throw new UsageError('say which archive the hook tells', 'give --archive NAME')
}
