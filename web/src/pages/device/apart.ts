// Pulls names such as `SOSButton` apart into words.

export const apart = (name: string): string =>
  name
    .replace(/[._-]+/g, ' ')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .trim()
