// What is wrong with a revision, as it is stored and shown.
import type { Finding } from './definition/finding.ts'

export type Problem = {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly suggestion: string | null
  /** Null: it is no file that is wrong. Lines and columns count from 1. */
  readonly file: string | null
  readonly line: number | null
  readonly column: number | null
}

export function toProblems(findings: readonly Finding[]): Problem[] {
  return findings.map(({ code, severity, message, suggestion, file, line, column }) => ({
    code,
    severity,
    message,
    suggestion,
    file,
    line,
    column,
  }))
}

export function problemOfDepth(depth: number, most: number): Problem {
  return {
    code: 'machine-commits-too-deep',
    severity: 'error',
    message: `a task made this commit, ${depth} deep in a chain of commits made by tasks; after ${most} no more tasks are planned`,
    suggestion: 'let the task commit only when something has changed, or put [skip millrace] into its message',
    file: null,
    line: null,
    column: null,
  }
}
