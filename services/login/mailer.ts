import type { Mail } from './mail-text.ts';

/** Sends a mail. Rejects when it was not taken. */
export type SendMail = (mail: Mail) => Promise<void>;

/** Milliseconds that a mail server may take for anything. */
const TIMEOUT_MS = 10_000;

/** `address`: `smtp://user:password@host:port`, or `smtps:`. */
export function smtpMailer(address: string, from: string): SendMail {
  let opening: Promise<(mail: Mail & { readonly text: string }) => Promise<unknown>> | undefined;
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      url: address,
      pool: true,
      maxConnections: 2,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // A template is data: it names no files and no addresses to be read.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return (mail: Mail & { readonly text: string }) => transport.sendMail({ ...mail, from });
  };
  return async (mail) => {
    opening ??= open();
    await (await opening)({ ...mail, text: mail.html });
  };
}

/** Shows mails in place of sending them, while nothing else is set up. */
export function consoleMailer(print: (text: string) => void): SendMail {
  return async ({ to, subject, html }) =>
    print(`Mail to ${to}\nSubject: ${subject}\n\n${html}\n\nEnd of mail`);
}
