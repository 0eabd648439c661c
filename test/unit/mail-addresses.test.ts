import { expect, it, onTestFinished } from 'vitest';
import { isMailAddress } from '../../services/command/scalar-values.ts';
import { smtpMailer } from '../../services/login/mailer.ts';
import { startSmtpServer } from '../login/smtp-server.ts';

const FORGED = '"x" <mallory@evil.example>"@corp.example';

it.each([
  ['ada@example.com', true],
  ["o'neill+list@sub.example.com", true],
  ['ünal@example.com', true],
  ['ada@müller.example', true],
  [FORGED, false],
  ['"a b"@example.com', false],
  ['a,b@example.com', false],
  ['ada@example.com, mallory@evil.example', false],
  ['Ada <ada@example.com>', false],
  ['ada@example.com (comment)', false],
])('knows whether mail can be sent to an address: %s', (address, can) => {
  expect(isMailAddress(address)).toBe(can);
});

it('sends no mail to an address inside of another', async () => {
  const server = await startSmtpServer();
  onTestFinished(() => server.close());
  const send = smtpMailer(`smtp://sender:secret@127.0.0.1:${server.port}`, 'varve@example.com');
  const mail = { from: undefined, replyTo: undefined, subject: 's', html: 'h' };
  await send({ ...mail, to: FORGED }).catch(() => undefined);
  await send({ ...mail, to: 'ada@example.com' });
  expect(
    server.mails.filter(({ to }) => to.includes('evil.example>') && !to.includes('corp.example')),
  ).toEqual([]);
  expect(server.mails.at(-1)?.to).toContain('<ada@example.com>');
});
