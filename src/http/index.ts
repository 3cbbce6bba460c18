export { HostUnusable, OpenHostNeedsToken, PortInUse } from './errors.ts'
export { createServer, type HttpServer, requireTokenFor, type ServerOptions } from './server.ts'
