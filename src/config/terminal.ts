export type Terminal = {
  /** What the environment says about colour; undefined when it says nothing. */
  readonly color: boolean | undefined
  /** It understands no escape sequences. */
  readonly isDumb: boolean
  /** The program that shows long texts, as the person wants it; empty for none. */
  readonly pager: string | undefined
}

/** What the environment says about the terminal: NO_COLOR, FORCE_COLOR, TERM, PAGER. */
export function readTerminal(environment: Readonly<Record<string, string | undefined>> = process.env): Terminal {
  const { NO_COLOR, FORCE_COLOR, TERM, MILLRACE_PAGER, PAGER } = environment
  const color = NO_COLOR ? false : FORCE_COLOR ? FORCE_COLOR !== '0' && FORCE_COLOR !== 'false' : undefined
  return { color, isDumb: TERM === 'dumb', pager: MILLRACE_PAGER ?? PAGER }
}
