const LONGEST = 255
const HOST =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/

/** Why the text is not a reference to a container image, or undefined when it is one. */
export function findImageProblem(text: string): string | undefined {
  if (text === '') return 'the image is empty'
  if (text.length > LONGEST) return `an image has at most ${LONGEST} characters`
  const [named = '', digest, ...more] = text.split('@')
  if (digest !== undefined && (more.length > 0 || !DIGEST.test(digest))) return 'the digest after @ is malformed'
  const slash = named.lastIndexOf('/')
  const colon = named.indexOf(':', slash + 1)
  const path = colon < 0 ? named : named.slice(0, colon)
  if (colon >= 0 && !TAG.test(named.slice(colon + 1))) return 'the tag after : is malformed'
  const components = path.split('/')
  const [first = ''] = components
  const hasHost = components.length > 1 && (/[.:[]/.test(first) || first === 'localhost')
  if (hasHost && !HOST.test(first)) return `"${first}" is not the name of a registry`
  const bad = components.slice(hasHost ? 1 : 0).find((component) => !COMPONENT.test(component))
  if (bad === undefined) return undefined
  return bad === '' ? 'a part between two slashes is empty' : `"${bad}" is not a part of an image's name`
}
