/** Secrets that were asked for and that nobody has set. */
export class SecretMissing extends Error {
  readonly code = 'secret_missing'
  readonly remedy: string
  readonly names: readonly string[]
  constructor(archive: string, names: readonly string[]) {
    const which = names.length === 1 ? `secret ${names[0]} is` : `secrets ${names.join(', ')} are`
    super(`${which} not set, neither for archive ${archive} nor for all`)
    this.names = names
    this.remedy = `set it with \`millrace secret set ${names[0]} --archive ${archive}\``
  }
}

/** A secret of that name would change how the command of a task is started. */
export class SecretNameReserved extends Error {
  readonly code = 'secret_name_reserved'
  readonly remedy = 'give the secret another name, and have the script of the task pass it on'
  constructor(name: string, reason: string) {
    super(`secret ${name} is refused: ${reason}`)
  }
}

export class SecretNotFound extends Error {
  readonly code = 'secret_not_found'
  constructor(archive: string, name: string) {
    super(`there is no secret ${name} ${archive === '' ? 'for all archives' : `of archive ${archive}`}`)
  }
}

/** The secret was changed since the caller read its version. */
export class SecretChanged extends Error {
  readonly code = 'precondition_failed'
  readonly remedy = 'look at its version again, and repeat the change'
  constructor(name: string, version: number) {
    super(`secret ${name} was changed meanwhile and is at version ${version}`)
  }
}

const SHARE_KEY =
  'give every server and worker the same key: MILLRACE_SECRET_KEY_FILE names a copy of the file secret-key in the data folder of the server that set the secrets'

/** There are secrets, and no key is here to open them. */
export class SecretKeyMissing extends Error {
  readonly code = 'secret_key_missing'
  readonly remedy = SHARE_KEY
  constructor(file: string) {
    super(`the secrets cannot be opened: there is no key ${file}, and MILLRACE_SECRET_KEY is not set`)
  }
}

/** The key is not the one with which the secrets were sealed. */
export class SecretKeyWrong extends Error {
  readonly code = 'secret_key_wrong'
  readonly remedy = `${SHARE_KEY}; when that key is lost, remove the secrets and set them again`
  constructor(what: string) {
    super(`${what} was sealed with another key than the one of this server`)
  }
}

/** The value or the file of a key cannot be used. */
export class SecretKeyUnusable extends Error {
  readonly code = 'secret_key_unusable'
  readonly remedy = 'a key has at least 32 characters; restore the file, or set MILLRACE_SECRET_KEY'
}

/** The key is right, and still the value does not open: somebody wrote into the row. */
export class SecretAltered extends Error {
  readonly code = 'secret_altered'
  readonly remedy = 'set the secret again'
  constructor(name: string) {
    super(`secret ${name} does not open: it was altered in the database`)
  }
}
