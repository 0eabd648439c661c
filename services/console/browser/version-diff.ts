import { type EntryPlace, entryPath, rowQuery } from './entry-request.ts';
import { HowToSend } from './how-to-send.ts';
import { type Content, html } from './html.ts';
import { useAnswer } from './use-answer.ts';
import { showWhole } from './values.ts';

type Member = { readonly at: number; readonly value: unknown };
type Words = readonly { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }[];
type Difference = {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly words?: Words;
  readonly added?: readonly Member[];
  readonly removed?: readonly Member[];
};

type DiffProps = { readonly place: EntryPlace; readonly from: string; readonly to: string };

/** The difference of two versions, word by word. */
export function VersionDiff({ place, from, to }: DiffProps) {
  const path = entryPath(place, `/versions/${encodeURIComponent(from)}/diff`, [
    ...rowQuery(place),
    ['with', to],
    ['format', 'words'],
  ]);
  const { data, problem } = useAnswer<{ readonly changed: readonly Difference[] }>(path);
  const changed = data?.changed;
  return html`<section aria-label="Differences" class="diff">
    <h2>From ${from} to ${to === 'current' ? 'now' : to}</h2>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    ${changed?.length === 0 && html`<p class="empty">The two versions have the same values.</p>`}
    ${changed === undefined ? problem === null && html`<p class="quiet" role="status">Comparing…</p>` : html`<dl>${changed.map((each) => html`<div key=${each.path}><dt><code>${each.path}</code></dt><dd>${showDifference(each)}</dd></div>`)}</dl>`}
    <${HowToSend} what="compare them" request=${{ method: 'GET', path }} />
  </section>`;
}

function showDifference({ from, to, words, added = [], removed = [] }: Difference): Content {
  if (words !== undefined)
    return html`<p class="whole">${words.map(({ kind, text }) => (kind === 'same' ? text : html`<${kind === 'added' ? 'ins' : 'del'}>${text}<//>`))}</p>`;
  if (added.length + removed.length > 0)
    return html`<ul class="members">${removed.map((member) => html`<li><del class="whole">${showMember(member)}</del></li>`)}
      ${added.map((member) => html`<li><ins class="whole">${showMember(member)}</ins></li>`)}</ul>`;
  return html`<p class="whole">${isGiven(from) && html`<del>${showWhole(from)}</del>`}${' '}${isGiven(to) && html`<ins>${showWhole(to)}</ins>`}</p>`;
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function showMember({ at, value }: Member): Content {
  const { documentId, ...others } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isLink = typeof documentId === 'string' && Object.keys(others).length === 0;
  return `${at + 1}. ${isLink ? documentId : showWhole(value)}`;
}
