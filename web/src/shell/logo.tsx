/** Warp threads with water through them. */
export function Logo() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0b5a72" />
      <path d="M7 9v14M13 9v14M19 9v14M25 9v14" stroke="#7fd0e4" strokeWidth="2" strokeLinecap="round" />
      <path
        d="M4 13c3-3 5 3 8 0s5 3 8 0 5 3 8 0M4 20c3-3 5 3 8 0s5 3 8 0 5 3 8 0"
        fill="none"
        stroke="#fff"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  )
}
