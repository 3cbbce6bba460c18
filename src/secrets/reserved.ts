// Names that no secret may have: a task finds its secrets as variables, and these change how its command is started or what
// it runs, or are set by the server.

const EXACT: ReadonlySet<string> = new Set([
  // where programs, home folders and temporary files are
  'PATH',
  'HOME',
  'TMPDIR',
  // what a shell reads before its script, and how it splits words
  'ENV',
  'BASH_ENV',
  'SHELLOPTS',
  'BASHOPTS',
  'IFS',
  'PS4',
  'CDPATH',
  // what Perl, which starts commands, and Node.js, which runs `millrace`, load before their program
  'PERL5OPT',
  'PERL5LIB',
  'PERL5DB',
  'NODE_OPTIONS',
  'NODE_PATH',
  // what the loader of the C library takes code and settings from, beside LD_*
  'GCONV_PATH',
  'GLIBC_TUNABLES',
])
const PREFIX = /^(LD_|DYLD_|MILLRACE_)/i

/** Why no secret may have the name; undefined when one may. */
export function whyReserved(name: string): string | undefined {
  if (/^MILLRACE_/i.test(name)) return 'names that begin with MILLRACE_ are set by the server'
  if (EXACT.has(name) || PREFIX.test(name)) return 'that variable changes how the command of a task is started'
  return undefined
}
