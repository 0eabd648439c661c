import { useState } from 'preact/hooks';
import { ActionButton, type ButtonAction, type Outcome, OutcomeLine } from './action.ts';
import { formatCount } from './format.ts';
import { html } from './html.ts';
import { operationRequest } from './operations.ts';
import { shellWord } from './send-lines.ts';
import type { ImportedLine } from './server.ts';
import { types } from './session.ts';

/** Refused lines of the file that are shown. */
const MOST_REFUSED = 100;

/** Imports a file of the server's folder, and lists the lines that were refused. */
export function ImportFileCard() {
  const [name, setName] = useState('');
  const [type, setType] = useState('');
  const [outcome, setOutcome] = useState<Outcome>();
  const lines = outcome === undefined ? [] : linesOf(outcome);
  const refused = lines.flatMap((line) => (line.kind === 'refused' ? [line] : []));
  return html`<section class="card" aria-label="Import a file">
    <h2>Import a file</h2>
    <p>Put a JSONL or CSV file into the folder <code>transfer</code> of the data directory. Each line becomes an entry. Correct the refused lines and import the file again: lines that were imported are not written twice.</p>
    <div class="row">
      <label>file <input name="import-name" size="28" spellcheck=${false} autocomplete="off" placeholder="articles.csv" value=${name} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} /></label>
      <label>type of its rows <select name="import-type" value=${type} onChange=${(event: Event) => setType((event.target as HTMLSelectElement).value)}>
        <option value="">each line names it</option>
        ${types.value.map(({ uid, schema }) => html`<option key=${uid} value=${uid}>${schema.displayName}</option>`)}
      </select></label>
      <${ActionButton} isPrimary=${true} isDisabled=${name.trim() === ''} report=${setOutcome} action=${actionOf(name.trim(), type)} />
    </div>
    <${OutcomeLine} outcome=${outcome} done=${doneText(lines, refused.length)} />
    ${
      refused.length > 0 &&
      html`<div class="scroll" role="region" aria-label="Refused lines" tabindex="0"><table class="refused">
        <thead><tr><th>line</th><th>reason</th></tr></thead>
        <tbody>${refused.slice(0, MOST_REFUSED).map(({ place, reason }, i) => html`<tr key=${i}><td>${place.slice(place.lastIndexOf(':') + 1)}</td><td class="wrap">${reason}</td></tr>`)}</tbody>
      </table></div>`
    }
  </section>`;
}

function actionOf(name: string, type: string): ButtonAction {
  const data = { name, ...(type === '' ? {} : { type }), confirm: 'import-file' };
  return {
    label: 'Import',
    request: operationRequest('import-file', data),
    command: `varve import ${shellWord(name)}${type === '' ? '' : ` --type ${type}`}`,
    destroys: {
      what: 'Each line of the file becomes an entry. A line that was imported before is not written again.',
      name,
    },
  };
}

function linesOf(outcome: Outcome): readonly ImportedLine[] {
  if ('problem' in outcome) return [];
  return (outcome.answer.json as { readonly data: readonly ImportedLine[] }).data;
}

function doneText(lines: readonly ImportedLine[], refused: number): string {
  const written = lines.reduce((sum, line) => sum + (line.kind === 'progress' ? line.documents : 0), 0);
  return `${formatCount(written)} lines of the file are entries, ${formatCount(refused)} were refused.`;
}
