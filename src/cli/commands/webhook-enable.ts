import { switchCommand } from '../switch-webhook.ts'

/** Lets a webhook be told again, of what happens from now on. */
export const webhookEnable = switchCommand('enable', true)
