declare module 'virtual:route-table' {
  const table: unknown
  export default table
}
