import { html } from './html.ts';
import { LoginCard } from './login-card.ts';
import { PublicCard } from './public-card.ts';
import { RolesCard } from './roles-card.ts';
import type { RightRow } from './server.ts';
import { TokensCard } from './tokens-card.ts';
import { useAnswer } from './use-answer.ts';
import { UsersCard } from './users-card.ts';

/** Rights: tokens, callers without one, roles, the login and its users. */
export function AccessPart() {
  const { data: rows, problem } = useAnswer<readonly RightRow[]>('/_varve/possible-rights');
  if (problem !== null) return html`<p class="card bad" role="alert">${problem}</p>`;
  if (rows === undefined) return html`<p class="quiet" role="status">Loading…</p>`;
  return html`<h1 class="hidden">Access</h1>
    <${TokensCard} rows=${rows} />
    <${PublicCard} rows=${rows} />
    <${RolesCard} rows=${rows} />
    <${LoginCard} />
    <${UsersCard} />`;
}
