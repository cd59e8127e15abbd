// Starts a server for a test: the built binary, an empty store in a temporary folder, a port that the system chooses.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

export const binary = process.env.PERIGEE_BIN ?? new URL('../../target/debug/perigee', import.meta.url).pathname
const map = new URL('../../map', import.meta.url).pathname

/** Starts a server; `settings` are environment variables, and `config` in it is the text of a configuration file. */
export async function startServer(settings = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
  const server = new Server(folder, settings)
  await server.start()
  return server
}

class Server {
  #child
  #port = 0

  constructor(folder, { config, ...settings }) {
    this.folder = folder
    this.config = config
    this.settings = settings
  }

  async start() {
    const env = {
      ...process.env,
      PERIGEE_SERVER__LISTEN: `127.0.0.1:${this.#port}`,
      // Set here, because a binary in another target directory would not find the map.
      PERIGEE_MAP__FOLDER: map,
      RUST_LOG: 'warn',
      ...this.settings
    }
    const file = join(this.folder, 'perigee.toml')
    if (this.config) await writeFile(file, this.config)
    const args = ['serve', '--data', join(this.folder, 'data'), ...(this.config ? ['--config', file] : [])]
    this.#child = spawn(binary, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const log = []
    const listening = new Promise((resolve, reject) => {
      for (const output of [this.#child.stdout, this.#child.stderr]) {
        createInterface({ input: output }).on('line', (line) => {
          log.push(line)
          const found = /^listening on (http:\/\/\S+)$/.exec(line)
          if (found) resolve(found[1])
        })
      }
      this.#child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${log.join('\n')}`)))
    })
    this.url = await listening
    this.log = log
    // After a restart the server must have the same address.
    this.#port = Number(new URL(this.url).port)
    this.owner ??= await this.#owner()
  }

  /** E-mail and password of the owner, whom the first start created. */
  async #owner() {
    const text = await readFile(join(this.folder, 'data', 'first-owner.txt'), 'utf8')
    return { email: /e-mail +(\S+)/.exec(text)[1], password: /password +(\S+)/.exec(text)[1] }
  }

  /** Runs a command of the program on the same store and returns its JSON output. */
  async run(...args) {
    const config = this.config ? ['--config', join(this.folder, 'perigee.toml')] : []
    const common = ['--json', '--data', join(this.folder, 'data'), ...config]
    const { stdout } = await promisify(execFile)(binary, [...args, ...common])
    return JSON.parse(stdout)
  }

  /** Ends the process and keeps the store. */
  async halt(signal = 'SIGTERM') {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill(signal)
    await exited
  }

  /** Suspends the process, as if it hung, until `resume` is called. */
  freeze() {
    this.#child.kill('SIGSTOP')
  }

  resume() {
    this.#child.kill('SIGCONT')
  }

  /** Ends the process and deletes the store. */
  async stop() {
    await this.halt()
    await rm(this.folder, { recursive: true, force: true })
  }
}
