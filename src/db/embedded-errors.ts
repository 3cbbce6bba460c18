/** Another live process works on this data directory: two would stop each other's database. */
export class DataDirectoryInUse extends Error {
  readonly code = 'data_directory_in_use'
  readonly remedy = 'stop that process, or give this one its own data directory (--data, MILLRACE_DATA)'
  readonly pid: number
  constructor(dataDir: string, pid: number) {
    super(`the data directory ${dataDir} is in use by the process with pid ${pid}`)
    this.pid = pid
  }
}

/** The embedded database cannot run here as things are; `remedy` says what would let it. */
export class EmbeddedUnusable extends Error {
  readonly code = 'embedded_unusable'
  readonly remedy: string
  constructor(problem: string, remedy: string) {
    super(problem)
    this.remedy = remedy
  }
}
