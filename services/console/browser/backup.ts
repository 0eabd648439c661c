import { useState } from 'preact/hooks';
import { ActionButton, type Outcome, OutcomeLine } from './action.ts';
import { formatBytes, formatCount } from './format.ts';
import { html } from './html.ts';
import { ImportFileCard } from './import-file-card.ts';
import { state } from './live.ts';
import { operationRequest } from './operations.ts';
import { shellWord } from './send-lines.ts';
import type { BackupManifest } from './server.ts';

/** Copies of the content: backups, exports, and imports of files. */
export function BackupPart() {
  const now = state.value;
  if (now === null) return html`<p class="quiet" role="status">Asking the server…</p>`;
  if (now.projections === undefined)
    return html`<section class="card empty"><h1>Backup</h1>
      <p>This process has no data directory. Open the console of a <code>varve project</code> or <code>varve serve</code>.</p></section>`;
  return html`<h1 class="hidden">Backup</h1>
    <${CopyCard} />
    <${ImportFileCard} />
    <${PicturesCard} />`;
}

type Kind = {
  readonly title: string;
  readonly label: string;
  readonly operation: string;
  readonly data?: object;
  readonly command: string;
  /** Begin and end of the suggested name, around the time. */
  readonly name: readonly [begin: string, end: string];
};

const KINDS: Readonly<Record<string, Kind>> = {
  backup: {
    title: 'a backup: the log, uploaded files and the access key',
    label: 'Back up',
    operation: 'backup',
    command: 'varve backup',
    name: ['backup-', ''],
  },
  history: {
    title: 'the history, for another Varve',
    label: 'Export',
    operation: 'export',
    command: 'varve export',
    name: ['history-', '.jsonl'],
  },
  strapi: {
    title: 'the current content, for strapi import',
    label: 'Export',
    operation: 'export',
    data: { strapi: true },
    command: 'varve export --strapi',
    name: ['content-', '.tar.gz'],
  },
};

function CopyCard() {
  const [chosen, setChosen] = useState('backup');
  const [written, setWritten] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const kind = KINDS[chosen];
  if (kind === undefined) return null;
  const name = written ?? suggestedName(kind);
  const report = (found: Outcome) => {
    setOutcome(found);
    if (!('problem' in found)) setWritten(undefined);
  };
  return html`<section class="card" aria-label="Backup and export">
    <h2>Backup and export</h2>
    <p>The server writes to the folder <code>transfer</code> of its data directory, while it answers requests. Copy the result to another machine, and restore it there now and then: <code>varve restore</code> checks all of it. A backup contains secrets.</p>
    <div class="row">
      <label>write <select name="kind" value=${chosen} onChange=${(event: Event) => {
        setChosen((event.target as HTMLSelectElement).value);
        setWritten(undefined);
      }}>${Object.entries(KINDS).map(([each, { title }]) => html`<option key=${each} value=${each}>${title}</option>`)}</select></label>
      <label>to <input name="copy-name" size="28" spellcheck=${false} autocomplete="off" value=${name} onInput=${(event: Event) => setWritten((event.target as HTMLInputElement).value)} /></label>
      <${ActionButton} isPrimary=${true} isDisabled=${name.trim() === ''} report=${report} action=${{
        label: kind.label,
        request: operationRequest(kind.operation, { name: name.trim(), ...kind.data }),
        command: `${kind.command} ${shellWord(name.trim())}`,
      }} />
    </div>
    <${OutcomeLine} outcome=${outcome} done=${outcome === undefined ? '' : doneText(outcome)} />
  </section>`;
}

/** Returns a name with the time, so that two copies of a day have different names. */
function suggestedName({ name: [begin, end] }: Kind): string {
  const time = new Date().toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `${begin}${time}${end}`;
}

/** Says what was written. An export answers with the line of the command. */
function doneText(outcome: Outcome): string {
  if ('problem' in outcome) return outcome.problem;
  const { data } = outcome.answer.json as { readonly data: BackupManifest | { readonly text: string } };
  const { name } = (outcome.action.request.body as { readonly data: { readonly name: string } }).data;
  if ('text' in data) return `${data.text}, written to transfer/${name}.`;
  const { log, assets, files } = data;
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const uploaded =
    assets.kind === 'copied'
      ? `${formatCount(assets.files)} uploaded files`
      : `no uploaded files, which are in ${assets.place}`;
  return `${formatCount(log.events)} events up to position ${formatCount(log.position)} and ${uploaded}, ${formatBytes(bytes)}, written to transfer/${name}.`;
}

function PicturesCard() {
  const [outcome, setOutcome] = useState<Outcome>();
  const line =
    outcome === undefined || 'problem' in outcome
      ? ''
      : ((outcome.answer.json as { readonly data: { readonly text: string } | null }).data?.text ?? 'Done.');
  return html`<section class="card" aria-label="Smaller pictures">
    <h2>Smaller pictures</h2>
    <p>Uploaded pictures have smaller ones. Files that were imported without them get them here.</p>
    <div class="row"><${ActionButton} report=${setOutcome} action=${{
      label: 'Make missing pictures',
      request: operationRequest('make-formats'),
      command: 'varve assets formats',
    }} /></div>
    <${OutcomeLine} outcome=${outcome} done=${line} />
  </section>`;
}
