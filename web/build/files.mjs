// Every file below a folder.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export function files(folder) {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? files(path) : [path]
    })
}
