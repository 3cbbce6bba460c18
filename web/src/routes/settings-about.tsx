export function About() {
  return null
}
