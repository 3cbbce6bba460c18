// What `import … from 'millrace'` gives.
export * from './engine/index.ts'
