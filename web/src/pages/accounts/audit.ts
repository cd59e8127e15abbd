// Entries of the audit log in words. Unknown actions are shown by their code.

/** The two parts of an action such as `device.update`. */
export function partsOf(action: string): { object: string; verb: string } {
  const at = action.lastIndexOf('.')
  return at < 0 ? { object: action, verb: '' } : { object: action.slice(0, at), verb: action.slice(at + 1) }
}

/** The kind of object that an ID names. */
export function kindOf(id: string): 'device' | 'group' | 'user' | 'other' {
  if (id.startsWith('dev_')) return 'device'
  if (id.startsWith('grp_')) return 'group'
  return id.startsWith('usr_') ? 'user' : 'other'
}
