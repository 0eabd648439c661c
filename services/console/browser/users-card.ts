import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { messageOf, send } from './api.ts';
import { formatCount, formatMoment, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { useAsked } from './use-answer.ts';

type User = {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly confirmed: boolean;
  readonly blocked: boolean;
  readonly createdAt: string;
};

const MOST_SHOWN = 100;
const LIST = { method: 'GET', path: `/api/users?sort=username&limit=${MOST_SHOWN}` };

/** Users who can sign in: blocked or not, and removed. */
export function UsersCard() {
  const { found, problem, again } = useAsked('users', readUsers);
  const [outcome, setOutcome] = useState<Outcome>();
  const users = found?.answer ?? [];
  const report = (ended: Outcome) => {
    setOutcome(ended);
    again();
  };
  return html`<section class="card" aria-label="Users">
    <h2>Users</h2>
    ${problem !== null && html`<p class="empty">${problem}</p>`}
    ${found !== undefined && users.length === 0 && html`<p class="empty">There are no users. <code>POST /api/users</code> adds one; with <code>--login</code> people can register.</p>`}
    ${users.length > 0 && html`<${UserTable} users=${users} report=${report} />`}
    ${users.length >= MOST_SHOWN && html`<p class="quiet">The first ${formatCount(MOST_SHOWN)} by name.</p>`}
    <${OutcomeLine} outcome=${outcome} />
    <${HowToSend} request=${LIST} />
  </section>`;
}

async function readUsers(signal: AbortSignal): Promise<readonly User[]> {
  const answer = await send(LIST, signal);
  if (!answer.ok) throw new Error(messageOf(answer));
  return answer.json as readonly User[];
}

function UserTable({
  users,
  report,
}: {
  readonly users: readonly User[];
  readonly report: (outcome: Outcome) => void;
}) {
  return html`<div class="scroll" role="region" aria-label="Table of users" tabindex="0">
    <table class="users">
      <thead><tr><th>name</th><th>email</th><th>created</th><th>state</th><th>actions</th></tr></thead>
      <tbody>${users.map((user) => html`<${UserRow} key=${user.id} user=${user} report=${report} />`)}</tbody>
    </table>
  </div>`;
}

function UserRow({ user, report }: { readonly user: User; readonly report: (outcome: Outcome) => void }) {
  const { id, username, email, createdAt, confirmed, blocked } = user;
  const path = `/api/users/${id}`;
  const label = blocked ? 'Unblock' : 'Block';
  return html`<tr>
    <td>${shorten(username, 40)}</td>
    <td>${shorten(email, 60)}</td>
    <td>${formatMoment(createdAt)}</td>
    <td>${blocked ? html`<span class="bad">blocked</span>` : confirmed ? html`<span class="good">active</span>` : 'not confirmed'}</td>
    <td><div class="row">
      <${ActionButton} name=${`${label} ${username}`} report=${report} action=${{
        label,
        request: { method: 'PUT', path, body: { blocked: !blocked } },
      }} />
      <${ActionButton} name=${`Delete ${username}`} report=${report} action=${{
        label: 'Delete',
        request: { method: 'DELETE', path },
        destroys: {
          what: 'The user is deleted, and cannot sign in any more. The log keeps its history.',
          name: username,
        },
      }} />
    </div></td>
  </tr>`;
}
