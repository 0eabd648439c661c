import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export type TakenMail = { readonly from: string; readonly to: string; readonly text: string };

/** A mail server that accepts every mail from senders with a name and password. */
export type SmtpServer = {
  readonly port: number;
  readonly mails: readonly TakenMail[];
  /** Credentials that senders sent, decoded. */
  readonly senders: readonly string[];
  close(): void;
};

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: TakenMail[] = [];
  const senders: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const answer = (text: string) => socket.write(`${text}\r\n`);
    let mail = { from: '', to: '' };
    let data: string[] | undefined;
    const takeData = (lines: string[], line: string) => {
      if (line !== '.') return lines.push(line);
      mails.push({ ...mail, text: lines.join('\n') });
      data = undefined;
      return answer('250 taken');
    };
    const commands: Readonly<Record<string, (line: string) => void>> = {
      EHLO: () => answer('250-test\r\n250 AUTH PLAIN'),
      AUTH(line) {
        const credentials = Buffer.from(line.split(' ')[2] ?? '', 'base64').toString();
        senders.push(credentials.replaceAll('\0', ' ').trim());
        answer('235 known');
      },
      MAIL(line) {
        mail = { ...mail, from: line };
        answer('250 ok');
      },
      RCPT(line) {
        mail = { ...mail, to: line };
        answer('250 ok');
      },
      DATA() {
        data = [];
        answer('354 send the mail');
      },
    };
    answer('220 test');
    createInterface({ input: socket }).on('line', (line) => {
      const [name = ''] = line.toUpperCase().split(' ');
      if (data !== undefined) takeData(data, line);
      else (commands[name] ?? (() => answer('250 ok')))(line);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    senders,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
