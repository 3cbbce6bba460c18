import { Duration } from '../../parts/time.tsx'
export function Typical({ id: _ }: { readonly id: string }) { return <Duration from={null} to={null} /> }
