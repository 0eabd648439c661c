import { attributesAt, titleName } from './content-model.ts';
import { type FilterRow, filterQuery, parseFilterRows } from './filter-rows.ts';
import { formatCount, shorten } from './format.ts';
import { type Content, html } from './html.ts';
import { change, route } from './route.ts';
import type { Type } from './server.ts';
import { types } from './session.ts';

const TEXTS = ['string', 'text', 'richtext', 'blocks', 'uid', 'enumeration'];
const MOST = 20;
const VALUES = 8;

/** Facts about the found entries in the answer of a list. `facets`: counts by attribute and value. */
export type FoundMeta = {
  readonly facets?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly highlights?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/** Returns the parameters of a search with highlights, and of facets if they are asked for. */
export function searchQuery(type: Type, words: string | null, hasFacets: boolean) {
  const texts = Object.entries(type.schema.attributes)
    .filter(([, attribute]) => TEXTS.includes(attribute.type))
    .map(([name]) => name);
  const counted = facetPaths(type);
  return [
    ['search', words],
    ['highlight', words === null || words === '' ? null : texts.slice(0, MOST).join(',')],
    ['facets', hasFacets && counted.length > 0 ? counted.join(',') : null],
  ] as const;
}

/** Returns the attributes whose values a list counts: enumerations, booleans, and the names of linked entries. */
function facetPaths({ schema }: Type): readonly string[] {
  return Object.entries(schema.attributes)
    .flatMap(([name, { type, target }]) => {
      if (type === 'enumeration' || type === 'boolean') return [name];
      const linked = type === 'relation' ? types.value.find(({ uid }) => uid === target) : undefined;
      const title = linked === undefined || linked.plugin !== undefined ? undefined : titleName(linked);
      return title === undefined ? [] : [`${name}.${title}`];
    })
    .slice(0, MOST);
}

/** Counts of values among the found entries. A click adds a condition. */
export function Facets({ type, meta }: { readonly type: Type; readonly meta: FoundMeta }) {
  const isOpen = route.value.query.get('facets') === 'true';
  const shown = Object.entries(meta.facets ?? {})
    .map(([path, counts]) => [path, Object.entries(counts)] as const)
    .filter(([, values]) => values.length > 0);
  return html`<details class="facets" open=${isOpen} onToggle=${(event: Event) => {
    const { open } = event.target as HTMLDetailsElement;
    if (open !== isOpen) change({ facets: open ? 'true' : undefined });
  }}>
    <summary>Facets</summary>
    ${isOpen && meta.facets !== undefined && shown.length === 0 && html`<p class="empty">No attribute of the found entries has values to count.</p>`}
    <div class="facet-lists">${shown.map(
      ([path, values]) =>
        html`<div key=${path}><h2>${path}</h2><ul>${values
          .slice(0, VALUES)
          .map(
            ([value, count]) =>
              html`<li><button type="button" class="plain" onClick=${() => add(type, path, value)}>${shorten(value, 40)}</button> <span class="quiet count">${formatCount(count)}</span></li>`,
          )}</ul></div>`,
    )}</div>
  </details>`;
}

function add(type: Type, path: string, value: string): void {
  const names = path.split('.');
  if (attributesAt(type, names.slice(0, -1))[names.at(-1) ?? ''] === undefined) return;
  const row: FilterRow = { path: names, operator: '$eq', value };
  const rows = [...(parseFilterRows(route.value.query.get('filter') ?? '') ?? []), row];
  const filter = filterQuery(rows)
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
    .join('&');
  change({ filter, page: undefined });
}

/** The places of an entry that match the search, by attribute. */
export function MatchedWords({ texts }: { readonly texts: Readonly<Record<string, string>> | undefined }) {
  const found = Object.entries(texts ?? {}).filter(([, text]) => text.includes('<mark>'));
  if (found.length === 0) return null;
  return html`<ul class="matches">${found.map(([name, text]) => html`<li><span class="quiet">${name}</span> ${marked(text)}</li>`)}</ul>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Reads the marks of a highlight as elements. The text itself is escaped for HTML, and becomes text again. */
function marked(text: string): Content {
  return text.split(/<mark>|<\/mark>/).map((part, i) => {
    const plain = part.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
    return i % 2 === 1 ? html`<mark>${plain}</mark>` : plain;
  });
}
