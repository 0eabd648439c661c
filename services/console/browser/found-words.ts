import { formatShort } from './format.ts';
import { html } from './html.ts';

type FoundWord = {
  readonly typed: string;
  readonly word: string;
  readonly how: string;
  readonly typos: number;
  readonly attribute: string;
  readonly weight: number;
};

type FoundHit = {
  readonly documentId: string;
  readonly locale: string | null;
  readonly words: readonly FoundWord[];
  readonly typos: number;
  readonly distance: number;
  readonly exact: number;
};

/** Explanation of a search by its words. `corrected`: words by what was typed. */
export type ExplainedSearch = {
  readonly dropped: readonly string[];
  readonly stopWords: readonly string[];
  readonly corrected: Readonly<Record<string, string>>;
  readonly hits: readonly FoundHit[];
};

/** Why each entry of an answer matches a search: its words, typos and weights, in the order of the hits. */
export function FoundWords({ search }: { readonly search: ExplainedSearch }) {
  const { dropped, stopWords, corrected, hits } = search;
  const notes = [
    ...Object.entries(corrected).map(([typed, word]) => `“${typed}” was read as “${word}”`),
    ...(stopWords.length === 0 ? [] : [`not searched, because they are everywhere: ${stopWords.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`dropped: ${dropped.join(', ')}`]),
  ];
  return html`<h2>Why these hits</h2>
    ${notes.length > 0 && html`<ul class="links">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}
    ${hits.length === 0 && html`<p class="empty">No entry of this page matches the words.</p>`}
    ${
      hits.length > 0 &&
      html`<div class="scroll" role="region" aria-label="Words of the hits" tabindex="0"><table class="found-words">
        <thead><tr><th>entry</th><th>typed</th><th>found</th><th>how</th><th>attribute</th><th class="number">weight</th><th class="number">typos</th></tr></thead>
        ${hits.map((hit, i) => html`<${Hit} key=${i} hit=${hit} />`)}
      </table></div>`
    }`;
}

function Hit({ hit: { documentId, locale, words, typos, distance, exact } }: { readonly hit: FoundHit }) {
  const sums = `typos ${formatShort(typos)}, distance ${formatShort(distance)}, exact ${formatShort(exact)}`;
  return html`<tbody>
    <tr><th colspan="7" scope="rowgroup"><code>${documentId}</code> ${locale ?? ''} <span class="quiet">${sums}</span></th></tr>
    ${words.length === 0 && html`<tr><td></td><td colspan="6" class="quiet">Only texts behind relations match.</td></tr>`}
    ${words.map(
      (word, i) =>
        html`<tr key=${i}><td></td><td>${word.typed}</td><td>${word.word}</td><td>${word.how}</td><td><code>${word.attribute}</code></td><td class="number">${formatShort(word.weight)}</td><td class="number">${formatShort(word.typos)}</td></tr>`,
    )}
  </tbody>`;
}
