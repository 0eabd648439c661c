import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatMoment, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { RightsMatrix } from './rights-matrix.ts';
import { SecretOnce } from './secret-once.ts';
import { shellWord } from './send-lines.ts';
import type { ListedToken, RightRow } from './server.ts';
import { isOpen } from './session.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/tokens';

/** Access tokens: their rights, a new one, and revocation. */
export function TokensCard({ rows }: { readonly rows: readonly RightRow[] }) {
  const { data: tokens, problem, again } = useAnswer<readonly ListedToken[]>(PATH);
  const [outcome, setOutcome] = useState<Outcome>();
  const [secret, setSecret] = useState<string>();
  const report = (found: Outcome) => {
    const made = 'problem' in found ? undefined : (found.answer.json as Made | undefined)?.data?.accessKey;
    if (made !== undefined) setSecret(made);
    setOutcome(found);
    again();
  };
  return html`<section class="card" aria-label="Tokens">
    <h2>Tokens</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${tokens?.length === 0 && html`<p class="empty">There are no tokens. While no access rights were ever set, everybody on this machine may do everything. The first token ends that: make it one with full access, and sign in with it.</p>`}
    ${(tokens?.length ?? 0) > 0 && html`<${TokenTable} tokens=${tokens ?? []} report=${report} />`}
    ${secret !== undefined && html`<${SecretOnce} use="Clients send it as Authorization: Bearer." secret=${secret} close=${() => setSecret(undefined)} />`}
    <${OutcomeLine} outcome=${outcome} />
    <${CreateForm} rows=${rows} report=${report} />
    <${HowToSend} request=${{ method: 'GET', path: PATH }} command="varve token list" />
  </section>`;
}

type Made = { readonly data?: { readonly accessKey?: string } };

type TableProps = { readonly tokens: readonly ListedToken[]; readonly report: (outcome: Outcome) => void };

function TokenTable({ tokens, report }: TableProps) {
  return html`<div class="scroll" role="region" aria-label="Table of tokens" tabindex="0">
    <table class="tokens">
      <thead><tr><th>name</th><th>type</th><th>rights</th><th>created</th><th>expires</th><th>state</th><th>actions</th></tr></thead>
      <tbody>${tokens.map((token) => html`<${TokenRow} key=${token.id} token=${token} report=${report} />`)}</tbody>
    </table>
  </div>`;
}

function TokenRow({
  token,
  report,
}: {
  readonly token: ListedToken;
  readonly report: (outcome: Outcome) => void;
}) {
  const { id, name, type, allow, drafts, history, createdAt, expiresAt, status } = token;
  const additional = [...(drafts ? ['drafts'] : []), ...(history ? ['history'] : [])];
  const rights = [...(type === 'custom' ? allow : [type]), ...additional].join(', ');
  return html`<tr>
    <td>${shorten(name, 40)}</td>
    <td>${type}</td>
    <td title=${rights}>${shorten(rights, 60)}</td>
    <td>${formatMoment(createdAt)}</td>
    <td>${expiresAt === null ? 'never' : formatMoment(expiresAt)}</td>
    <td><span class=${status === 'active' ? 'good' : 'quiet'}>${status}</span></td>
    <td>${
      status === 'active' &&
      html`<${ActionButton} name=${`Revoke ${name}`} report=${report} action=${{
        label: 'Revoke',
        request: { method: 'DELETE', path: `${PATH}/${id}` },
        command: `varve token revoke ${id}`,
        destroys: { what: 'Every process refuses the token within a second. This cannot be undone.', name },
      }} />`
    }</td>
  </tr>`;
}

type Form = {
  readonly name: string;
  readonly type: string;
  readonly allow: readonly string[];
  readonly drafts: boolean;
  readonly history: boolean;
  readonly expires: string;
};

/** A new form. A token ends development mode, and after that only a token with full access opens this part. */
function createForm(): Form {
  const type = isOpen.value ? 'full-access' : 'custom';
  return { name: '', type, allow: [], drafts: false, history: false, expires: '' };
}

type CreateProps = { readonly rows: readonly RightRow[]; readonly report: (outcome: Outcome) => void };

function CreateForm({ rows, report }: CreateProps) {
  const [form, setForm] = useState(createForm);
  const set = (name: keyof Form) => (event: Event) => {
    const field = event.target as HTMLInputElement;
    setForm({ ...form, [name]: field.type === 'checkbox' ? field.checked : field.value });
  };
  const { name, type, allow, drafts, history, expires } = form;
  const request = { method: 'POST', path: PATH, body: { data: bodyOf(form) } };
  const command = [
    'varve',
    `token create --name ${shellWord(name)} --type ${type}`,
    ...(type === 'custom' ? [`--allow ${allow.join(',')}`] : []),
    ...(drafts ? ['--drafts'] : []),
    ...(history ? ['--history'] : []),
    ...(expires === '' ? [] : [`--expires ${shellWord(expires)}`]),
  ].join(' ');
  return html`<details><summary>Create a token</summary>
    <div class="row">
      <label>name <input name="token-name" size="20" value=${name} onInput=${set('name')} /></label>
      <label>type <select name="token-type" value=${type} onChange=${set('type')}><option>custom</option><option>read-only</option><option>full-access</option></select></label>
      <label>expires <input size="12" placeholder="never, 30d, 2030-01-31" value=${expires} onInput=${set('expires')} /></label>
      ${
        type !== 'full-access' &&
        html`<label><input type="checkbox" checked=${drafts} onChange=${set('drafts')} /> sees drafts</label>
        <label><input type="checkbox" checked=${history} onChange=${set('history')} /> sees earlier versions</label>`
      }
    </div>
    ${type === 'custom' && html`<${RightsMatrix} label="Rights of the new token" rows=${rows} allow=${allow} changed=${(changed: readonly string[]) => setForm({ ...form, allow: changed })} />`}
    <div class="row"><${ActionButton} isPrimary=${true} isDisabled=${name.trim() === ''} report=${report} action=${{ label: 'Create', request, command }} /></div>
    <${HowToSend} request=${request} command=${command} />
  </details>`;
}

function bodyOf({ name, type, allow, drafts, history, expires }: Form): object {
  const body = { name, type, ...(type === 'custom' ? { allow } : {}) };
  const additional = type === 'full-access' ? {} : { drafts, history };
  return { ...body, ...additional, ...(expires === '' ? {} : { expires }) };
}
