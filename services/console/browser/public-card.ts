import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { RightsMatrix } from './rights-matrix.ts';
import type { RightRow } from './server.ts';
import { useAnswer } from './use-answer.ts';

const PATH = '/_varve/public';

type PublicRights = { readonly development: boolean; readonly allow: readonly string[] };

const DEVELOPMENT_ENDS =
  'Development mode ends. Without a token with full access, nobody can use this page any more.';

/** Rights of callers without a token. */
export function PublicCard({ rows }: { readonly rows: readonly RightRow[] }) {
  const { data: rights, problem, again } = useAnswer<PublicRights>(PATH);
  const [written, setWritten] = useState<readonly string[]>();
  const [outcome, setOutcome] = useState<Outcome>();
  const allow = written ?? rights?.allow ?? [];
  const report = (found: Outcome) => {
    setOutcome(found);
    if (!('problem' in found)) setWritten(undefined);
    again();
  };
  const save = {
    label: 'Save public rights',
    request: { method: 'PUT', path: PATH, body: { data: { allow } } },
    ...(rights?.development === true && { destroys: { what: DEVELOPMENT_ENDS, name: 'public' } }),
  };
  return html`<section class="card" aria-label="Public rights">
    <h2>Callers without a token</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${rights?.development === true && html`<p>Development mode: everybody on this machine may do everything. Saving rights ends it: create a token with full access first.</p>`}
    <${RightsMatrix} label="Rights of callers without a token" rows=${rows} allow=${allow} changed=${setWritten} />
    <div class="row">
      <${ActionButton} isPrimary=${true} isDisabled=${written === undefined} report=${report} action=${save} />
      ${written !== undefined && html`<button type="button" onClick=${() => setWritten(undefined)}>Reset</button>`}
    </div>
    <${OutcomeLine} outcome=${outcome} />
    <${HowToSend} request=${{ method: 'GET', path: PATH }} />
  </section>`;
}
