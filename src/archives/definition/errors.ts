import { nearest } from './nearest.ts'

/** No workflow of that name is defined at the revision. */
export class UnknownWorkflow extends Error {
  readonly code = 'unknown_workflow'
  readonly remedy: string
  constructor(name: string, known: readonly string[]) {
    super(`no workflow is called "${name}" at this revision`)
    this.remedy = remedyFor(name, known)
  }
}

/** No task of that name is defined at the revision. */
export class UnknownTask extends Error {
  readonly code = 'unknown_workflow_task'
  readonly remedy: string
  constructor(name: string, known: readonly string[]) {
    super(`no task is called "${name}" at this revision`)
    this.remedy = remedyFor(name, known)
  }
}

/** An input that was given to a run is unknown, missing, or none of its options. */
export class InvalidInput extends Error {
  readonly code = 'invalid_input'
  readonly remedy: string
  constructor(message: string, known: readonly string[]) {
    super(message)
    this.remedy = known.length > 0 ? `the workflow takes ${known.join(', ')}` : 'the workflow takes no inputs'
  }
}

/** The workflow files of the revision have errors, so that nothing of them can be run. */
export class DefinitionBroken extends Error {
  readonly code = 'definition_broken'
  readonly remedy = 'mend the workflow files; `millrace workflow lint` shows what is wrong'
  constructor(count: number, rev?: string) {
    const which = rev === undefined ? '' : ` of revision ${rev}`
    super(`the workflow files${which} have ${count} error${count === 1 ? '' : 's'}`)
  }
}

function remedyFor(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  if (meant !== undefined) return `did you mean ${meant}?`
  return known.length > 0 ? `there are ${known.slice(0, 20).join(', ')}` : 'there are none'
}
