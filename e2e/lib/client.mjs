// Calls the API as a signed-in user, to prepare what a test needs before it opens a page.

/** Signs in and returns a client. */
export async function signIn(server, { email, password } = server.owner) {
  const client = new Client(server)
  await client.post('/api/session', { email, password })
  return client
}

class Client {
  #cookie = ''

  constructor(server) {
    this.server = server
  }

  get = (path) => this.#call('GET', path)
  post = (path, body) => this.#call('POST', path, body)
  put = (path, body) => this.#call('PUT', path, body)
  patch = (path, body) => this.#call('PATCH', path, body)
  delete = (path) => this.#call('DELETE', path)

  /** Creates a device with this name and the members of `more`. */
  async device(name, more = {}) {
    const { device } = await this.post('/api/devices', { name, ...more })
    return device
  }

  /** Reports a location of a device, with the current time unless `more` has a `dateTime`. */
  locate = (id, latitude, longitude, more = {}) =>
    this.post(`/api/devices/${id}/locations`, { dateTime: new Date().toISOString(), latitude, longitude, ...more })

  async #call(method, path, body) {
    const headers = { origin: this.server.url, cookie: this.#cookie }
    if (body !== undefined) headers['content-type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const answer = await fetch(this.server.url + path, { method, headers, body: body && JSON.stringify(body) })
    const cookie = answer.headers.getSetCookie()[0]
    if (cookie) this.#cookie = cookie.split(';')[0]
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text ? JSON.parse(text) : null
  }
}
