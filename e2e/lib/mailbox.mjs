// An SMTP server that accepts every mail, for tests that check what was sent.
import { createServer } from 'node:net'

/** Starts the server. With the returned `settings`, Perigee sends its mails to it. */
export async function openMailbox() {
  const mails = []
  const server = createServer((socket) => {
    let rest = ''
    let body = null
    const say = (line) => socket.write(`${line}\r\n`)
    socket.setEncoding('utf8').on('error', () => undefined)
    say('220 mailbox ESMTP')
    socket.on('data', (data) => {
      rest += data
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (body) {
          if (line === '.') {
            mails.push(body.join('\n'))
            body = null
            say('250 taken')
          } else body.push(line)
        } else if (/^DATA/i.test(line)) {
          body = []
          say('354 go on')
        } else if (/^QUIT/i.test(line)) {
          say('221 bye')
          socket.end()
        } else say('250 mailbox')
      }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const settings = {
    PERIGEE_EMAIL__HOST: '127.0.0.1',
    PERIGEE_EMAIL__PORT: String(server.address().port),
    PERIGEE_EMAIL__SECURITY: 'none',
    PERIGEE_EMAIL__FROM: 'Perigee <alerts@example.org>'
  }
  return { mails, settings, close: () => server.close() }
}
