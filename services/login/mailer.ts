import type { Mail } from './mail-text.ts';

/** Sends a mail. Rejects if the mail server does not accept it. */
export type SendMail = (mail: Mail) => Promise<void>;

/** Time limit in milliseconds for each step with a mail server. */
const TIMEOUT_MS = 10_000;

/** Sends mails by SMTP. `address` has the form `smtp://user:password@host:port`, or `smtps://…`. */
export function smtpMailer(address: string, from: string): SendMail {
  let opening: ReturnType<typeof openTransport> | undefined;
  return async (mail) => {
    // A text would be parsed as a list of addresses with names.
    const to = { name: '', address: mail.to };
    opening ??= openTransport(address);
    await (await opening).sendMail({ ...mail, to, from, text: mail.html });
  };
}

async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A template is data: it must not make the mailer read files or addresses.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Prints mails instead of sending them, while no mail server is configured. */
export function consoleMailer(print: (text: string) => void): SendMail {
  return async ({ to, subject, html }) =>
    print(`Mail to ${to}\nSubject: ${subject}\n\n${html}\n\nEnd of mail`);
}
