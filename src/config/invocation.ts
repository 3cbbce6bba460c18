/** How the program was called, so that the commands which it prints can be copied: from a clone only npx finds it. */
export function readInvocation(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  return environment['npm_command'] === 'exec' ? 'npx millrace' : 'millrace'
}
