// A mail server and a message centre that others wrote, for tests of the messages that Perigee sends. Listens on free
// ports of this machine, prints them in its first line of output, and writes each received message to a file, as one
// JSON object per line.
//
//   node peers.js KEY CERTIFICATE FILE
const fs = require('fs');
const { SMTPServer } = require('smtp-server');
const smpp = require('smpp');

const [keyFile, certificateFile, receivedFile] = process.argv.slice(2);
const identity = { key: fs.readFileSync(keyFile), cert: fs.readFileSync(certificateFile) };
const note = (what) => fs.appendFileSync(receivedFile, JSON.stringify(what) + '\n');

function mailServer(name, options) {
  const server = new SMTPServer({
    ...identity,
    logger: false,
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth(auth, session, done) {
      const known = auth.username === 'perigee' && auth.password === 'secret';
      done(known ? null : new Error('wrong password'), { user: auth.username });
    },
    onRcptTo(address, session, done) {
      done(address.address.startsWith('nobody@') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null);
    },
    onData(stream, session, done) {
      const chunks = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const { envelope, secure, user } = session;
        const to = envelope.rcptTo.map((recipient) => recipient.address);
        note({ server: name, from: envelope.mailFrom.address, to, secure, user, mail: Buffer.concat(chunks).toString() });
        done(null, 'queued as REAL1');
      });
    },
    ...options,
  });
  server.on('error', () => {});
  return server;
}

function messageCentre(name, options) {
  let count = 0;
  const server = smpp.createServer(options, (session) => {
    session.on('error', () => {});
    session.on('bind_transceiver', (pdu) => {
      const known = pdu.system_id === 'perigee' && pdu.password === 'secret';
      session.send(pdu.response({ command_status: known ? smpp.ESME_ROK : smpp.ESME_RINVPASWD }));
    });
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('unbind', (pdu) => session.send(pdu.response(), () => session.close()));
    session.on('submit_sm', (pdu) => {
      count += 1;
      const id = `${name}-${count}`;
      const header = pdu.short_message.udh ? pdu.short_message.udh.map((part) => part.toString('hex')) : null;
      const text = pdu.short_message.message || (pdu.message_payload && pdu.message_payload.message);
      note({ server: name, to: pdu.destination_addr, sender: pdu.source_addr, coding: pdu.data_coding, header, text });
      session.send(pdu.response({ message_id: id }));
      if (pdu.registered_delivery & 1) {
        session.deliver_sm({
          esm_class: smpp.ESM_CLASS.MC_DELIVERY_RECEIPT,
          source_addr: pdu.destination_addr,
          destination_addr: pdu.source_addr,
          short_message: `id:${id} sub:001 dlvrd:001 submit date:2605011200 done date:2605011201 stat:DELIVRD err:000 text:`,
          receipted_message_id: id,
          message_state: smpp.MESSAGE_STATE.DELIVERED,
        });
      }
    });
  });
  server.on('error', () => {});
  return server;
}

const servers = {
  starttls: mailServer('starttls', { authOptional: false }),
  smtps: mailServer('smtps', { secure: true }),
  open: mailServer('open', { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] }),
  smpp: messageCentre('smpp', {}),
  ssmpp: messageCentre('ssmpp', identity),
};
const ports = {};
let waiting = Object.keys(servers).length;
for (const [name, server] of Object.entries(servers)) {
  const socket = server.listen(0, '127.0.0.1', () => {
    ports[name] = (server.server ?? server).address().port;
    waiting -= 1;
    if (waiting === 0) console.log(JSON.stringify(ports));
  });
  void socket;
}
