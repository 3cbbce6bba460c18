export { type AdminToken, adminToken } from './admin-token.ts'
export { createSessions, type Sessions } from './session.ts'
export { createSignInLink, type SignInLink } from './sign-in-link.ts'
