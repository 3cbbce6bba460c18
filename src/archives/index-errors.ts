/** No revision of the archive was ever indexed. */
export class ArchiveNotIndexed extends Error {
  readonly code = 'archive_not_indexed'
  readonly remedy = 'add a task with `uses: index` to a file in _workflows; the next commit builds the index'
  constructor(name: string) {
    super(`archive "${name}" has no index`)
  }
}

/** The archive has an index, but not of that revision. */
export class RevisionNotIndexed extends Error {
  readonly code = 'revision_not_indexed'
  readonly remedy: string
  /** The indexed revisions before and after it. */
  readonly before: number | undefined
  readonly after: number | undefined
  constructor(name: string, rev: string, { before, after }: { before?: number; after?: number }) {
    super(`revision ${rev} of archive "${name}" is not indexed`)
    this.before = before
    this.after = after
    const near = [before, after].filter((number) => number !== undefined)
    this.remedy = near.length === 2 ? `the nearest that are: ${near.join(' and ')}` : `the nearest that is: ${near[0]}`
  }
}

/** There is neither a file nor a folder of that name at the revision. */
export class PathNotIndexed extends Error {
  readonly code = 'path_not_indexed'
  constructor(name: string, path: string, number: number) {
    super(`there is no "${path}" in revision ${number} of archive "${name}"`)
  }
}

/** Nothing can be searched for in this way. */
export class InvalidSearch extends Error {
  readonly code = 'invalid_query'
}
