// Writes schemas/workflow.v1.json: the JSON Schema of workflow files, for editors.
import { workflowJsonSchema } from '../src/archives/index.ts'
import { writeOrCompare } from './generated.ts'

writeOrCompare('schemas/workflow.v1.json', `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`)
