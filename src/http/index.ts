export { addNodes } from './nodes.ts'
export { createServer, type HttpServer, type Resource, requireTokenFor, type ServerOptions } from './server.ts'
export { addTaskLog, type Outputs } from './task-log.ts'
export { addTasks } from './tasks.ts'
