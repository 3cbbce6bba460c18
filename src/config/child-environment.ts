/** The environment for a program that is started for the person: their own, with these variables besides. */
export function childEnvironment(
  more: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  return { ...environment, ...more }
}
