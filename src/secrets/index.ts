export {
  SecretAltered,
  SecretChanged,
  SecretKeyMissing,
  SecretKeyUnusable,
  SecretKeyWrong,
  SecretMissing,
  SecretNotFound,
} from './errors.ts'
export { createSecrets, type ListSecrets, type Secret, type SecretChange, type Secrets } from './secrets.ts'
