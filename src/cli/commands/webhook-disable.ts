import { switchCommand } from '../switch-webhook.ts'

/** Keeps a webhook from being told. */
export const webhookDisable = switchCommand('disable', false)
