/**
 * The settings of a contender, with changes given from outside as JSON by its name. This is how the settings
 * that stand in the contenders were chosen, and how anyone can try better ones without editing.
 */
export function tuned<T extends object>(contender: string, settings: T): T {
  const changes = JSON.parse(process.env['MILLRACE_BENCH_TUNING'] ?? '{}')[contender]
  return { ...settings, ...changes }
}
