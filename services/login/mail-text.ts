import type { MailTemplate } from '../../shared/access/login-events.ts';

export type Mail = {
  readonly to: string;
  readonly from: string | undefined;
  readonly replyTo: string | undefined;
  readonly subject: string;
  readonly html: string;
};

/** Values by the names that a template may use: `URL`, `USER.username`. */
export type MailFacts = Readonly<Record<string, string>>;

/** Fills in a template. Unknown names stay as they are. A template cannot run code. */
export function fillMail(template: MailTemplate, to: string, facts: MailFacts): Mail {
  const { from, replyTo, subject, message } = template;
  const fill = (text: string, write: (value: string) => string) =>
    text.replace(/<%=\s*([\w.]+)\s*%>/g, (whole, name: string) =>
      Object.hasOwn(facts, name) ? write(String(facts[name])) : whole,
    );
  return {
    to,
    from: from.email === '' ? undefined : `${oneLine(from.name)} <${oneLine(from.email)}>`,
    replyTo: replyTo === '' ? undefined : oneLine(replyTo),
    subject: oneLine(fill(subject, String)),
    html: fill(message, escapeHtml),
  };
}

/** Puts a text on one line, so that a name with line ends cannot add a header to a mail. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
