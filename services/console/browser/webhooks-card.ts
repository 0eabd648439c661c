import { useRef, useState } from 'preact/hooks';
import { ActionButton, type ButtonAction, type Outcome, OutcomeLine } from './action.ts';
import type { Request } from './api.ts';
import { formatCount, shorten } from './format.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { linkTo } from './route.ts';
import { SecretOnce } from './secret-once.ts';
import { shellWord } from './send-lines.ts';
import type { ListedWebhook } from './server.ts';
import { types } from './session.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/webhooks';
const USE = 'Receivers verify the signatures of deliveries with it.';

/** Webhooks: add, test, pause, resume, replay, a new secret, remove. */
export function WebhooksCard({ changed }: { readonly changed: () => void }) {
  const { data: hooks, problem, again } = useAnswer<readonly ListedWebhook[]>(PATH);
  const [outcome, setOutcome] = useState<Outcome>();
  const [secret, setSecret] = useState<string>();
  const report = (found: Outcome) => {
    const data = 'problem' in found ? undefined : dataOf(found.answer.json);
    if (data?.secret !== undefined) setSecret(data.secret);
    setOutcome(found);
    again();
    changed();
  };
  return html`<section class="card" aria-label="Webhooks">
    <h2>Webhooks</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${hooks?.length === 0 && html`<p class="empty">No server is notified of changes. Add a webhook to notify one.</p>`}
    ${(hooks?.length ?? 0) > 0 && html`<${HookTable} hooks=${hooks ?? []} report=${report} />`}
    ${secret !== undefined && html`<${SecretOnce} use=${USE} secret=${secret} close=${() => setSecret(undefined)} />`}
    <${OutcomeLine} outcome=${outcome} done=${outcome === undefined ? '' : doneText(outcome)} />
    <${AddForm} report=${report} />
    <${HowToSend} request=${{ method: 'GET', path: PATH }} command="varve webhook list" />
  </section>`;
}

type Answered = {
  readonly secret?: string;
  readonly kind?: string;
  readonly status?: number | string;
  readonly reason?: string | null;
  readonly replayed?: number;
};

function dataOf(json: unknown): Answered | undefined {
  return (json as { readonly data?: Answered } | undefined)?.data;
}

function doneText(outcome: Outcome): string {
  const data = 'problem' in outcome ? undefined : dataOf(outcome.answer.json);
  if (data?.replayed !== undefined) return `${formatCount(data.replayed)} deliveries are sent again.`;
  if (data?.kind === 'answered') return `the receiver answered ${data.status}.`;
  if (data?.kind !== undefined) return `${data.kind}: ${data.reason}.`;
  return 'Done.';
}

type TableProps = {
  readonly hooks: readonly ListedWebhook[];
  readonly report: (outcome: Outcome) => void;
};

function HookTable({ hooks, report }: TableProps) {
  return html`<div class="scroll" role="region" aria-label="Table of webhooks" tabindex="0">
    <table class="hooks">
      <thead><tr><th>name</th><th>URL</th><th>events</th><th>state</th><th class="number">waiting</th><th class="number">parked</th><th>actions</th></tr></thead>
      <tbody>${hooks.map((hook) => html`<${HookRow} key=${hook.id} hook=${hook} report=${report} />`)}</tbody>
    </table>
  </div>`;
}

function HookRow({
  hook,
  report,
}: {
  readonly hook: ListedWebhook;
  readonly report: (outcome: Outcome) => void;
}) {
  const { id, name, url, events, types: uids, status, reason, deliveries } = hook;
  const about = [events.join(', '), ...(uids.length === 0 ? [] : [`of ${uids.join(', ')}`])].join(' ');
  return html`<tr>
    <td><a href=${linkTo(['delivery', id])}>${shorten(name, 40)}</a></td>
    <td>${shorten(url, 60)}</td>
    <td title=${about}>${shorten(about, 40)}</td>
    <td><span class=${status === 'active' ? 'good' : 'bad'}>${status}</span>${reason === null ? '' : html` <span class="quiet">${reason}</span>`}</td>
    <td class="number">${formatCount(deliveries?.waiting)}</td>
    <td class="number">${formatCount(deliveries?.parked)}</td>
    <td><div class="row">${actionsOf(hook).map((action) => html`<${ActionButton} key=${action.label} action=${action} name=${`${action.label} ${name}`} report=${report} />`)}</div></td>
  </tr>`;
}

function actionsOf({ id, name, status }: ListedWebhook): readonly ButtonAction[] {
  const post = (label: string, action: string): ButtonAction => ({
    label,
    request: { method: 'POST', path: `${PATH}/${id}/${action}` },
    command: ['varve', 'webhook', action, id].join(' '),
  });
  return [
    post('Test', 'test'),
    status === 'active' ? post('Pause', 'pause') : post('Resume', 'resume'),
    {
      ...post('Replay parked', 'replay'),
      request: { method: 'POST', path: `${PATH}/${id}/replay`, body: { data: {} } },
    },
    {
      ...post('New secret', 'rotate'),
      destroys: {
        what: 'Deliveries are signed with the old secret for a day more, and then only with the new one.',
        name,
      },
    },
    {
      label: 'Remove',
      request: { method: 'DELETE', path: `${PATH}/${id}` },
      command: `varve webhook remove ${id}`,
      destroys: { what: 'The webhook and its deliveries are removed, also those that wait.', name },
    },
  ];
}

function AddForm({ report }: { readonly report: (outcome: Outcome) => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [request, setRequest] = useState<Request>({
    method: 'POST',
    path: PATH,
    body: { data: { url: '' } },
  });
  const read = () => form.current !== null && setRequest(requestOf(new FormData(form.current)));
  const { data } = request.body as { readonly data: HookForm };
  const command = commandOf(data);
  return html`<details><summary>Add a webhook</summary>
    <form ref=${form} onInput=${read} onChange=${read} onSubmit=${(event: Event) => event.preventDefault()}>
      <div class="row">
        <label>URL <input name="url" type="url" size="40" required placeholder="https://example.com/hook" /></label>
        <label>name <input name="name" size="20" placeholder="the host of the URL" /></label>
        <label>type <select name="types"><option value="">all</option>${types.value.map(({ uid, schema }) => html`<option value=${uid}>${schema.displayName}</option>`)}</select></label>
        <label>events <input name="events" size="30" placeholder="entry.publish,entry.delete; all of Strapi's" /></label>
        <label><input name="allowPrivate" type="checkbox" /> the address may be private</label>
        <${ActionButton} isPrimary=${true} isDisabled=${data.url === ''} report=${report} action=${{ label: 'Add', request, command }} />
      </div>
      <${HowToSend} request=${request} command=${command} />
    </form>
  </details>`;
}

type HookForm = {
  readonly url: string;
  readonly name?: string;
  readonly types?: string;
  readonly events?: string;
  readonly allowPrivate?: true;
};

function commandOf({ url, name, types: uids, events, allowPrivate }: HookForm): string {
  const options = Object.entries({ name, types: uids, events }).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option} ${shellWord(value)}`],
  );
  return [
    'varve webhook add',
    shellWord(url),
    ...options,
    ...(allowPrivate === true ? ['--allow-private'] : []),
  ].join(' ');
}

function requestOf(form: FormData): Request {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const given = ['url', 'name', 'types', 'events'].filter((name) => name === 'url' || text(name) !== '');
  const data: Record<string, unknown> = Object.fromEntries(given.map((name) => [name, text(name)]));
  if (form.get('allowPrivate') === 'on') data['allowPrivate'] = true;
  return { method: 'POST', path: PATH, body: { data } };
}
