export { publish, reachable, ServerAddress } from './server-address.ts'
