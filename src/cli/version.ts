import { readFileSync } from 'node:fs'
import type { Command } from 'commander'

const examples = `
Examples:
  millrace version
  millrace version --json`

/** The release, as the package says it. */
export function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** `millrace version`: what runs here. */
export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action((options: { json?: boolean }) => {
      const found = { version: version(), node: process.versions.node, platform: `${process.platform}-${process.arch}` }
      console.log(options.json ? JSON.stringify(found) : found.version)
    })
}
