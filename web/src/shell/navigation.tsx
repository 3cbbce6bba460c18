import { Menu as MenuIcon } from 'lucide-react'
import { useState } from 'react'
import { Link } from '../parts/link.tsx'
import { Logo } from './logo.tsx'
import { places } from './places.ts'

export function Navigation() {
  const [isOpen, setOpen] = useState(false)
  return (
    <nav className="nav" aria-label="Main" data-open={isOpen || undefined}>
      <Link to="/" className="nav-brand" onClick={() => setOpen(false)}>
        <Logo />
        <span>Millrace</span>
      </Link>
      {places.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          className="nav-link"
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          onClick={() => setOpen(false)}
        >
          <Icon aria-hidden size={17} />
          <span>{label}</span>
        </Link>
      ))}
      <button type="button" className="nav-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <MenuIcon aria-hidden size={17} />
        <span>{isOpen ? 'Less' : 'More'}</span>
      </button>
    </nav>
  )
}
