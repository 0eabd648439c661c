import { useRef, useState } from 'preact/hooks';
import { ActionButton, type ButtonAction, type Outcome, OutcomeLine } from './action.ts';
import { formatCount } from './format.ts';
import { html } from './html.ts';
import { route } from './route.ts';
import { shellWord } from './send-lines.ts';
import type { EraseAnswer } from './server.ts';
import { types } from './session.ts';

const PATH = '/_varve/erasures';

type Wanted = {
  readonly type: string;
  readonly documentId?: string;
  readonly where?: string;
  readonly reason?: string;
};

/** Erases documents: shows first which, and expects their number. `changed`: called when something was erased. */
export function EraseCard({ changed }: { readonly changed: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [wanted, setWanted] = useState<Wanted>(firstWanted);
  const [found, setFound] = useState<EraseAnswer>();
  const [outcome, setOutcome] = useState<Outcome>();
  const read = () => {
    if (form.current === null) return;
    setWanted(wantedIn(new FormData(form.current)));
    setFound(undefined);
  };
  const report = (next: Outcome) => {
    setOutcome(next);
    const answer = 'problem' in next ? undefined : (next.answer.json as { readonly data: EraseAnswer }).data;
    setFound(answer?.erased === false ? answer : undefined);
    if (answer?.erased === true) changed();
  };
  const isIncomplete = (wanted.documentId === undefined) === (wanted.where === undefined);
  return html`<section class="card" aria-label="Erase documents">
    <h2>Erase documents</h2>
    <p>All locales and versions of a document are erased, and it cannot be undone. Backups and exports of before keep it.</p>
    <form class="fields" ref=${form} onInput=${read} onChange=${read} onSubmit=${(event: Event) => event.preventDefault()}>
      <${Fields} wanted=${wanted} />
      <div class="row"><${ActionButton} isPrimary=${true} isDisabled=${isIncomplete} report=${report} action=${lookAction(wanted)} />
        ${isIncomplete && html`<span class="hint">Give either a documentId or filters.</span>`}</div>
    </form>
    ${found !== undefined && html`<${Found} found=${found} wanted=${wanted} report=${report} />`}
    <${OutcomeLine} outcome=${outcome} done=${found === undefined ? 'Done.' : 'Nothing is erased yet.'} />
  </section>`;
}

/** Returns what the address of the page names. */
function firstWanted(): Wanted {
  const { query } = route.value;
  const documentId = query.get('document') ?? '';
  const type = query.get('type') ?? types.value[0]?.uid ?? '';
  return { type, ...(documentId === '' ? {} : { documentId }) };
}

function wantedIn(form: FormData): Wanted {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const given = ['documentId', 'where', 'reason'].filter((name) => text(name) !== '');
  return { type: text('type'), ...Object.fromEntries(given.map((name) => [name, text(name)])) };
}

function Fields({ wanted: { type, documentId } }: { readonly wanted: Wanted }) {
  return html`
    <label>type <select name="type">${types.value.map(({ uid, schema }) => html`<option key=${uid} value=${uid} selected=${uid === type}>${schema.displayName} (${uid})</option>`)}</select></label>
    <label>documentId <input name="documentId" size="30" spellcheck=${false} autocomplete="off" defaultValue=${documentId ?? ''} /></label>
    <label>or filters <input name="where" size="40" spellcheck=${false} placeholder="filters[email]=ada@example.org" /></label>
    <label>reason <input name="reason" size="40" maxlength="500" placeholder="stays in the log for ever: name no person" /></label>`;
}

function lookAction(wanted: Wanted): ButtonAction {
  return {
    label: 'Show what would be erased',
    request: { method: 'POST', path: PATH, body: { data: wanted } },
    command: commandOf(wanted),
  };
}

function commandOf({ type, documentId, where, reason }: Wanted, confirm?: number): string {
  return [
    `varve erase ${type}`,
    ...(documentId === undefined ? [] : [documentId]),
    ...(where === undefined ? [] : [`--where ${shellWord(where)}`]),
    ...(reason === undefined ? [] : [`--reason ${shellWord(reason)}`]),
    ...(confirm === undefined ? [] : [`--confirm ${confirm}`]),
  ].join(' ');
}

type FoundProps = {
  readonly found: EraseAnswer;
  readonly wanted: Wanted;
  readonly report: (outcome: Outcome) => void;
};

function Found({ found: { count, documents }, wanted, report }: FoundProps) {
  const what = count === 1 ? '1 document' : `${formatCount(count)} documents`;
  const action: ButtonAction = {
    label: `Erase ${what}`,
    request: { method: 'POST', path: PATH, body: { data: { ...wanted, confirm: count } } },
    command: commandOf(wanted, count),
    destroys: {
      what: `The values of ${what} of ${wanted.type} are removed from the log and from every file that Varve has made. Nothing brings them back.`,
      name: wanted.documentId ?? String(count),
    },
  };
  return html`<h3>${what} would be erased</h3>
    <div class="scroll" role="region" aria-label="Documents to erase" tabindex="0">
      <table class="to-erase"><thead><tr><th>document</th><th class="number">events with content</th></tr></thead>
        <tbody>${documents.map(({ documentId, events }) => html`<tr key=${documentId}><td><code>${documentId}</code></td><td class="number">${formatCount(events)}</td></tr>`)}</tbody></table>
    </div>
    <p class="row"><${ActionButton} action=${action} report=${report} /></p>`;
}
