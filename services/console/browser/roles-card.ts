import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { RightsMatrix } from './rights-matrix.ts';
import type { ListedRole, RightRow } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/roles';

/** Roles of users who sign in: one at a time, with its rights as a matrix. */
export function RolesCard({ rows }: { readonly rows: readonly RightRow[] }) {
  const { data: roles = [], problem, again } = useAnswer<readonly ListedRole[]>(PATH);
  const [type, setType] = useState('authenticated');
  const [name, setName] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const role = roles.find((each) => each.type === type);
  const added = name.trim();
  const report = (found: Outcome) => {
    setOutcome(found);
    again();
  };
  return html`<section class="card" aria-label="Roles">
    <h2>Roles</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    <div class="row">
      <label>role <select name="role" value=${type} onChange=${(event: Event) => setType((event.target as HTMLSelectElement).value)}>
        ${roles.map((each) => html`<option key=${each.type} value=${each.type} selected=${each.type === type}>${each.name}</option>`)}
      </select></label>
      <label>a new one <input size="16" placeholder="editor" value=${name} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} /></label>
      <${ActionButton} isDisabled=${added === ''} report=${(found: Outcome) => {
        report(found);
        if (!('problem' in found)) setType(added);
      }} action=${{
        label: 'Add role',
        request: {
          method: 'PUT',
          path: `${PATH}/${encodeURIComponent(added)}`,
          body: { data: { name: added } },
        },
      }} />
    </div>
    ${role !== undefined && html`<${RoleForm} key=${JSON.stringify(role)} role=${role} rows=${rows} report=${report} />`}
    <${OutcomeLine} outcome=${outcome} />
    <${HowToSend} request=${{ method: 'GET', path: PATH }} />
  </section>`;
}

type FormProps = {
  readonly role: ListedRole;
  readonly rows: readonly RightRow[];
  readonly report: (outcome: Outcome) => void;
};

function RoleForm({ role, rows, report }: FormProps) {
  const [allow, setAllow] = useState<readonly string[]>(role.allow);
  const [drafts, setDrafts] = useState(role.drafts);
  const [history, setHistory] = useState(role.history);
  return html`<p class="quiet">${role.description}</p>
    <${RightsMatrix} label=${`Rights of ${role.name}`} rows=${rows} allow=${allow} changed=${setAllow} />
    <div class="row">
      <label><input type="checkbox" checked=${drafts} onChange=${() => setDrafts(!drafts)} /> sees drafts</label>
      <label><input type="checkbox" checked=${history} onChange=${() => setHistory(!history)} /> sees earlier versions</label>
      <span class="quiet">login: ${role.login.join(', ') || 'nothing'}</span>
    </div>
    <div class="row"><${ActionButton} isPrimary=${true} report=${report} action=${{
      label: 'Save role',
      request: {
        method: 'PUT',
        path: `${PATH}/${encodeURIComponent(role.type)}`,
        body: { data: { allow, drafts, history } },
      },
    }} /></div>`;
}
