import cronstrue from 'cronstrue'

/** What a cron expression means, for people: "At 03:00, Monday through Friday". What has no words is answered as it is. */
export function cronInWords(cron: string): string {
  try {
    return cronstrue.toString(cron.trim().toLowerCase(), { use24HourTimeFormat: true, verbose: false })
  } catch {
    return cron
  }
}
