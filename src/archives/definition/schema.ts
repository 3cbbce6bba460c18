// The shape of workflow files. What is said of a key here reaches its author through the editor: the JSON Schema is made
// from it.
import { z } from 'zod'
import * as checked from './checked-text.ts'
import { INPUT_PATTERN, NAME_PATTERN, REFERENCE_PATTERN, VARIABLE_PATTERN } from './names.ts'

export const SHELLS = ['sh', 'bash', 'zsh', 'python3', 'node', 'perl', 'pwsh'] as const
export const WHENS = ['succeeded', 'finished', 'failed'] as const
export const OVERLAPS = ['skip', 'allow'] as const
export const BUILT_IN = ['index'] as const
export const DEFAULTS = {
  timeout: '1h',
  retries: 0,
  queue: 'default',
  shell: 'sh',
  overlap: 'skip',
  timezone: 'UTC',
} as const
const MOST_RETRIES = 100
export const MOST_ENTRIES = 200
export const MOST_SCHEDULES = 20

/** One, or a list: a list of one may be written without brackets. */
function oneOrMore<T extends z.ZodType>(item: T, expected: string, most = MOST_ENTRIES) {
  const list = z.array(item, { error: expected }).max(most, { error: `there are at most ${most} of them` })
  return z.union([item, list], { error: expected })
}

const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'text' })

const reference = checked.reference.meta({
  description: 'A task of this revision by name; PREV, this task at the previous revision that has it; or PREV:name.',
  pattern: REFERENCE_PATTERN,
  examples: ['indexing', 'PREV', 'PREV:indexing'],
})

const when = z.enum(WHENS, { error: `one of ${WHENS.join(', ')}` }).meta({
  description:
    'What of the task is waited for. Without it a task of the same revision must have succeeded, and PREV must be over, however it ended.',
  examples: ['finished'],
})

const dependency = z.union(
  [reference, z.strictObject({ task: reference, when: when.optional() }, { error: 'a mapping of task and when' })],
  { error: 'a task by name, or a mapping of task and when' },
)

const depends = oneOrMore(dependency, 'a task, or a list of tasks').meta({
  description: 'The tasks that this one waits for. Every task waits for the COMMIT of its revision as well.',
  default: [],
  examples: [['PREV'], ['indexing', { task: 'PREV', when: 'succeeded' }]],
})

const cancels = oneOrMore(reference, 'a task, or a list of tasks')

const command = z.union(
  [
    checked.commandLine,
    z.array(scalar, { error: 'a list' }).superRefine(([program], context) => {
      if (program !== undefined && program !== '') return
      const problem: checked.TextProblem = { code: 'bad-command', message: 'the command is empty' }
      context.addIssue({ code: 'custom', message: problem.message, params: { problem } })
    }),
  ],
  { error: 'a command: text, or a list of program and arguments' },
)

// The keys that may also stand under defaults.
const image = checked.image.meta({
  description:
    'The container image in which the task runs. Without it: the default image of the server, else the host of the worker.',
  examples: ['debian:12', 'registry.example.org/tools/tex:2026'],
})
const shell = z.enum(SHELLS, { error: `one of ${SHELLS.join(', ')}` }).meta({
  description: 'What runs the script. The shells stop at the first command that fails.',
  default: DEFAULTS.shell,
  examples: ['bash'],
})
const timeout = checked.duration.meta({
  description: 'After this long the task is stopped and fails.',
  default: DEFAULTS.timeout,
  examples: ['30m', '1h30m'],
  pattern: '^(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$',
})
const retries = z
  .int({ error: 'a whole number' })
  .min(0, { error: 'retries are at least 0' })
  .max(MOST_RETRIES, { error: `retries are at most ${MOST_RETRIES}` })
  .meta({ description: 'How often the task is tried again after it failed.', default: DEFAULTS.retries, examples: [2] })
const queue = checked.name.meta({
  description: 'The queue in which the task waits for a worker.',
  default: DEFAULTS.queue,
  examples: ['heavy'],
  pattern: NAME_PATTERN,
})
const exclusive = z.boolean({ error: 'true or false' }).meta({
  description:
    'Waits for all exclusive tasks of earlier revisions, and runs beside no other exclusive task of the archive.',
  default: false,
  examples: [true],
})
const env = z
  .record(checked.variable.meta({ pattern: VARIABLE_PATTERN }), scalar, { error: 'a mapping of names to values' })
  .meta({
    description: 'Variables of the task. Those of the task win over those of the defaults.',
    default: {},
    examples: [{ LANG: 'C.UTF-8' }],
  })

export const task = z.strictObject(
  {
    name: checked.name.meta({
      description:
        'The name of the task, one for all workflow files of the archive. COMMIT takes only depends; PREV is reserved.',
      examples: ['build-PDF'],
      pattern: NAME_PATTERN,
    }),
    uses: z
      .string({ error: 'the name of something built in' })
      .meta({
        description: 'Something built in, instead of a command: index keeps the index of the archive up to date.',
        enum: [...BUILT_IN],
        examples: [...BUILT_IN],
      })
      .optional(),
    depends: depends.optional(),
    cancels: cancels
      .meta({
        description:
          'Tasks that are canceled when this one becomes ready and they are not over. PREV covers every earlier one of its name, waiting ones too.',
        default: [],
        examples: [['PREV']],
      })
      .optional(),
    image: image.optional(),
    command: command
      .meta({
        description:
          'The program and its arguments. Text is split at spaces, quotes keep together; no shell is involved.',
        examples: [['make', 'pdf'], 'make pdf'],
      })
      .optional(),
    script: checked.script
      .meta({ description: 'A script, run by the shell.', examples: ['make pdf\nmake check\n'] })
      .optional(),
    shell: shell.optional(),
    env: env.optional(),
    secrets: oneOrMore(checked.variable.meta({ pattern: VARIABLE_PATTERN }), 'a name, or a list of names')
      .meta({
        description: 'Secrets of the archive that the task gets as variables. Their values are masked in its log.',
        default: [],
        examples: [['SIGNING_KEY']],
      })
      .optional(),
    artifacts: oneOrMore(checked.artifact, 'a pattern, or a list of patterns')
      .meta({
        description: 'Files of the workspace that are kept when the task is over.',
        default: [],
        examples: [['out/*.pdf']],
      })
      .optional(),
    exclusive: exclusive.optional(),
    timeout: timeout.optional(),
    retries: retries.optional(),
    queue: queue.optional(),
    if: z
      .union([checked.condition, z.boolean()], { error: 'a condition such as trigger == "commit"' })
      .meta({
        description:
          'The task is left out where this does not hold. It asks about trigger, paths, author, message, branch and inputs.NAME.',
        default: true,
        examples: ['trigger == "commit" and not message contains "[draft]"'],
      })
      .optional(),
  },
  { error: 'a task: a mapping with a name' },
)

const commit = z
  .strictObject(
    {
      paths: oneOrMore(checked.pathGlob, 'a pattern, or a list of patterns')
        .meta({
          description: 'Only commits that change a path which fits one of these.',
          default: [],
          examples: [['chapters/**']],
        })
        .optional(),
      'paths-ignore': oneOrMore(checked.pathGlob, 'a pattern, or a list of patterns')
        .meta({
          description: 'Paths that do not count: a commit that changes nothing else starts nothing.',
          default: [],
          examples: [['drafts/**', '*.txt']],
        })
        .optional(),
      authors: oneOrMore(checked.textGlob, 'an author, or a list of authors')
        .meta({ description: 'Only commits of these authors.', default: [], examples: [['ada', '*@example.org']] })
        .optional(),
    },
    { error: 'a mapping of paths, paths-ignore and authors, or nothing' },
  )
  .nullable()
  .meta({
    description: 'Run after commits: after all of them, or after those that fit.',
    examples: [{ paths: ['chapters/**'] }],
  })

const schedule = z.strictObject(
  {
    cron: z.string({ error: 'a cron expression such as "0 3 * * *"' }).meta({
      description:
        'Five fields: minute, hour, day of the month, month, weekday; or @hourly, @daily, @weekly, @monthly, @yearly.',
      examples: ['0 3 * * *', '*/15 8-18 * * mon-fri'],
    }),
    timezone: z
      .string({ error: 'a time zone such as Europe/Berlin' })
      .meta({
        description: 'The zone of the cron expression.',
        default: DEFAULTS.timezone,
        examples: ['Europe/Berlin'],
      })
      .optional(),
    overlap: z
      .enum(OVERLAPS, { error: `one of ${OVERLAPS.join(', ')}` })
      .meta({
        description: 'Whether a run is left out while the one before it is not over.',
        default: DEFAULTS.overlap,
        examples: ['allow'],
      })
      .optional(),
  },
  { error: 'a mapping of cron, timezone and overlap' },
)

const input = z
  .strictObject(
    {
      default: scalar.meta({ description: 'Its value where none is given.', examples: ['draft'] }).optional(),
      description: z
        .string({ error: 'text' })
        .meta({ description: 'What it is for.', examples: ['which edition'] })
        .optional(),
      required: z
        .boolean({ error: 'true or false' })
        .meta({ description: 'Whether a run by hand must give it.', default: false, examples: [true] })
        .optional(),
      options: z
        .array(scalar, { error: 'a list of values' })
        .meta({ description: 'The values that it may have.', examples: [['draft', 'final']] })
        .optional(),
    },
    { error: 'a mapping of default, description, required and options, or nothing' },
  )
  .nullable()

const manual = z
  .strictObject(
    {
      inputs: z
        .record(checked.inputName.meta({ pattern: INPUT_PATTERN }), input, { error: 'a mapping of names to inputs' })
        .meta({
          description: 'What can be given to a run by hand. NAME reaches the tasks as MILLRACE_INPUT_NAME.',
          default: {},
          examples: [{ edition: { default: 'draft' } }],
        })
        .optional(),
    },
    { error: 'a mapping of inputs, or nothing' },
  )
  .nullable()
  .meta({ description: 'Offered to be run by hand.', examples: [{ inputs: { edition: { default: 'draft' } } }] })

const on = z
  .strictObject(
    {
      commit: commit.optional(),
      schedule: oneOrMore(schedule, 'a schedule, or a list of schedules', MOST_SCHEDULES)
        .meta({
          description: 'Run at times, at the newest revision.',
          examples: [[{ cron: '0 3 * * *', timezone: 'Europe/Berlin' }]],
        })
        .optional(),
      manual: manual.optional(),
    },
    { error: 'a mapping of commit, schedule and manual' },
  )
  .meta({
    description: 'What starts the workflow. Without it: every commit. A person may start every workflow.',
    examples: [{ commit: { paths: ['chapters/**'] } }],
  })

export const taskList = z.array(task, { error: 'a list of tasks' }).meta({
  title: 'Tasks',
  description: 'The tasks of the workflow.',
  examples: [[{ name: 'indexing', uses: 'index', depends: ['PREV'] }]],
})

export const mapping = z.strictObject(
  {
    version: z
      .literal(1, { error: 'the version 1' })
      .meta({ description: 'The version of the format.', default: 1, examples: [1] })
      .optional(),
    name: checked.name
      .meta({
        description: 'The name of the workflow, for runs by hand. Without it: the name of the file without its ending.',
        examples: ['book'],
        pattern: NAME_PATTERN,
      })
      .optional(),
    on: on.optional(),
    defaults: z
      .strictObject(
        {
          timeout: timeout.optional(),
          retries: retries.optional(),
          env: env.optional(),
          image: image.optional(),
          shell: shell.optional(),
          queue: queue.optional(),
          exclusive: exclusive.optional(),
        },
        { error: 'a mapping of timeout, retries, env, image, shell, queue and exclusive' },
      )
      .meta({
        description: 'What holds for each task that does not say otherwise.',
        default: {},
        examples: [{ timeout: '2h' }],
      })
      .optional(),
    cancels: cancels
      .meta({
        description: 'Holds for each task of the workflow, as if it stood there.',
        default: [],
        examples: [['PREV']],
      })
      .optional(),
    tasks: taskList,
  },
  { error: 'a mapping with tasks' },
)

export type TaskInput = z.infer<typeof task>
export type MappingInput = z.infer<typeof mapping>
