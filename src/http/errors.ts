/** Listening for others than this machine is refused while the administrator's token is one nobody chose. */
export class OpenHostNeedsToken extends Error {
  readonly code = 'open_host_needs_token'
  readonly remedy =
    'set MILLRACE_ADMIN_TOKEN (or MILLRACE_ADMIN_TOKEN_FILE) to a secret of your own, or listen on 127.0.0.1'
  constructor(host: string) {
    super(`host ${host} can be reached from other machines, and no admin token is set`)
  }
}

/** Another process listens there. */
export class PortInUse extends Error {
  readonly code = 'port_in_use'
  readonly remedy = 'stop that process, or choose another port (--port, MILLRACE_PORT)'
  constructor(host: string, port: number) {
    super(`port ${port} on ${host} is in use by another process`)
  }
}

/** The address is not one of this machine's. */
export class HostUnusable extends Error {
  readonly code = 'host_unusable'
  readonly remedy = 'choose an address of this machine (--host, MILLRACE_HOST) and a port that you may use'
  constructor(host: string, port: number, cause: Error) {
    super(`${host}:${port} cannot be listened on: ${cause.message}`)
  }
}
