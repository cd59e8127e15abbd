// The messages of this language by file, loaded together when the language is shown.
export default import.meta.glob<Record<string, string>>('./*.json', { eager: true, import: 'default' })
