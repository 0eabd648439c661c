import { type EntryPlace, entryPath, type Row } from './entry-request.ts';
import { HowToSend } from './how-to-send.ts';
import { html } from './html.ts';
import { showValue } from './show-value.ts';
import { useAnswer } from './use-answer.ts';

type ValuesProps = { readonly place: EntryPlace; readonly version: string };

/** An entry as it was after a version. */
export function VersionValues({ place, version }: ValuesProps) {
  const path = entryPath(place, `/versions/${encodeURIComponent(version)}`);
  const { data: row, problem } = useAnswer<Row | null>(path);
  return html`<section aria-label="Version" class="diff">
    <h2>The entry after ${version}</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${row === null && html`<p class="empty">There was no entry after this version: it was deleted.</p>`}
    ${
      row &&
      html`<div class="scroll" role="region" aria-label="Values of the version" tabindex="0"><table class="values"><thead><tr><th>attribute</th><th>value</th></tr></thead>
      <tbody>${Object.entries(place.type.schema.attributes).map(([name, attribute]) => html`<tr key=${name}><th scope="row">${name}</th><td>${showValue(attribute, row[name])}</td></tr>`)}</tbody></table></div>`
    }
    <${HowToSend} what="read the version" request=${{ method: 'GET', path }} />
  </section>`;
}
