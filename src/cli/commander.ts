// The parser, loaded as what it is: importing CommonJS costs more time at each start than running it.
import { createRequire } from 'node:module'

const commander = createRequire(import.meta.url)('commander') as typeof import('commander')

export const { Argument, Command, CommanderError, InvalidArgumentError, Option } = commander
export type Command = import('commander').Command
