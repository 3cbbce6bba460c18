export { workflowJsonSchema } from './definition/json-schema.ts'
