import { z } from 'zod'
import { mapping, taskList } from './schema.ts'

type Schema = { [key: string]: unknown }

/** The JSON Schema of workflow files for editors: draft 7, which is what the language server for YAML knows. */
export function workflowJsonSchema(): Schema {
  const list = toSchema(taskList)
  const whole = toSchema(mapping)
  const task = list['items']
  const tasks = (whole['properties'] as Schema)['tasks'] as Schema
  list['items'] = tasks['items'] = { $ref: '#/definitions/task' }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Millrace workflow',
    description: 'A file of _workflows/: a list of tasks, or a mapping that also says what starts them.',
    definitions: { task },
    anyOf: [
      list,
      {
        title: 'Workflow',
        description: 'A workflow with its triggers and defaults.',
        ...whole,
        patternProperties: { '^x-': {} },
      },
    ],
  }
}

function toSchema(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' })
  return rest as Schema
}
