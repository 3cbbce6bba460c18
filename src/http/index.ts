export { createServer, type HttpServer, requireTokenFor, type ServerOptions } from './server.ts'
